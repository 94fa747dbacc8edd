/* A copy with an id map: what was copied refers to what was copied with it, wherever that is now.
 */
#include "profile/copy.h"
#include "tests/profile/fixture.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SAMPLES = 20, IMAGES = 1, FRAMES = 3, NODES = 3, THREADS = 3 };

static char copy_path[128];

static void setup(void)
{
	fixture_setup();
	snprintf(copy_path, sizeof(copy_path), "%s.copy", fixture_path());
}

static void teardown(void)
{
	unlink(copy_path);
	fixture_teardown();
}

/* A result with one of everything, and a thread that nobody recorded. */
static void write_source(void)
{
	struct profile_unwinding unwinding = {.walks = 7};
	struct profile_thread_life thread = {
		.pid = 100,
		.tid = 102,
		.end_ns = fixture_ms(900),
		.name = "unwound",
		.unwinding = &unwinding,
	};
	struct profile_symbol symbol = {.frame = 2, .line = 9};
	struct profile_symbol_text text = {.name = "leaf", .file = "leaf.c"};
	struct profile_writer *symbols;
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, SAMPLES);
	fixture_add_sample(writer, 500, 100, 199, 0x400100);
	assert_success(profile_writer_add_thread(writer, &thread));
	unwinding = (struct profile_unwinding){PROFILE_UNWINDING_IMAGE, 1, .walks = 8};
	assert_success(
		profile_writer_add(writer, PROFILE_STREAM_UNWINDING, &unwinding, NULL, NULL));
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
}

/* Copies it twice into one result whose TSC starts elsewhere and runs at another rate; the symbols
 * are those of the second copy. */
static struct profile_reader *copy_twice(struct profile_reader *reader)
{
	struct profile_run run = {
		.clock = {.tsc = 1000,
			  .raw_ns = FIXTURE_RAW_NS,
			  .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_copy copies[2] = {{.reader = reader}, {.reader = reader}};
	struct profile_writer *writer;
	struct profile_reader *copied;

	assert_success(profile_writer_create(copy_path, &run, &writer));
	for (int i = 0; i < 2; i++) {
		copies[i].writer = writer;
		assert_success(profile_copy_all(&copies[i]));
	}
	assert_success(profile_writer_finish(writer, &end));
	assert_success(profile_copy_symbols(&copies[1], copy_path));
	for (int i = 0; i < 2; i++)
		profile_copy_finish(&copies[i]);
	assert_success(profile_reader_open(copy_path, &copied));
	fixture_check_promises(copied);
	return copied;
}

static void expect_tree(const struct profile_reader *old, const struct profile_reader *new)
{
	ck_assert_uint_eq(profile_reader_image_count(new), 1 + 2 * IMAGES);
	ck_assert_uint_eq(profile_reader_frame_count(new), 2 * FRAMES);
	ck_assert_uint_eq(profile_reader_node_count(new), 1 + 2 * NODES);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct profile_frame *frame = profile_reader_frame(new, FRAMES + i);
		const struct profile_node *node = profile_reader_node(new, 1 + NODES + i);
		ck_assert_uint_eq(frame->rva, profile_reader_frame(old, i)->rva);
		ck_assert_uint_eq(frame->image, 2);
		ck_assert_uint_eq(node->frame, FRAMES + i);
		ck_assert_uint_eq(node->parent, i == 0 ? 0 : NODES + i);
	}
	ck_assert_str_eq(profile_reader_text(new, profile_reader_image(new, 2)->path), "/opt/app");
}

static void expect_samples(struct profile_reader *old, struct profile_reader *new)
{
	uint64_t count, copied_count;
	struct profile_sample_info *left = fixture_samples(old, &count);
	struct profile_sample_info *right = fixture_samples(new, &copied_count);

	ck_assert_uint_eq(count, SAMPLES + 1);
	ck_assert_uint_eq(copied_count, 2 * count);
	for (uint64_t i = 0; i < copied_count; i++) {
		const struct profile_sample_info *from = &left[i % count];
		uint32_t node = from->stack.node;
		ck_assert_uint_eq(profile_reader_raw_ns(new, right[i].tsc),
				  profile_reader_raw_ns(old, from->tsc));
		ck_assert_uint_eq(right[i].ip, from->ip);
		ck_assert_uint_eq(right[i].stack.cpu_ns, from->stack.cpu_ns);
		ck_assert_uint_eq(right[i].stack.node, node && i >= count ? node + NODES : node);
	}
	free(left);
	free(right);
}

static void expect_threads(const struct profile_reader *old, const struct profile_reader *new)
{
	uint32_t threads = profile_reader_thread_count(old);

	ck_assert_uint_eq(threads, THREADS + 1);
	ck_assert_uint_eq(profile_reader_thread_count(new), 2 * threads);
	for (uint32_t i = 0; i < 2 * threads; i++) {
		const struct profile_thread_info *from = profile_reader_thread(old, i % threads);
		const struct profile_thread_info *info = profile_reader_thread(new, i);
		ck_assert_uint_eq(info->tid, from->tid);
		ck_assert_uint_eq(info->cpu_ns, from->cpu_ns);
		ck_assert_uint_eq(info->flags, from->flags);
		ck_assert_str_eq(info->name, from->name);
		ck_assert_uint_eq(profile_reader_raw_ns(new, info->start_tsc),
				  profile_reader_raw_ns(old, from->start_tsc));
	}
	ck_assert_uint_eq(profile_reader_thread(new, THREADS)->flags, PROFILE_THREAD_DEDUCED);
}

/* Threads have their own numbers in either copy: the deduced one lies between. */
static void expect_unwindings(const struct profile_reader *new)
{
	ck_assert_uint_eq(profile_reader_unwinding_count(new), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct profile_unwinding *unwinding = profile_reader_unwinding(new, i);
		bool is_second = i >= 2;
		if (i % 2 == 0) {
			ck_assert_uint_eq(unwinding->kind, PROFILE_UNWINDING_THREAD);
			ck_assert_uint_eq(unwinding->walks, 7);
			ck_assert_uint_eq(unwinding->subject,
					  is_second ? 2 * THREADS : THREADS - 1);
			ck_assert_uint_eq(profile_reader_thread(new, unwinding->subject)->tid, 102);
		} else {
			ck_assert_uint_eq(unwinding->kind, PROFILE_UNWINDING_IMAGE);
			ck_assert_uint_eq(unwinding->walks, 8);
			ck_assert_uint_eq(unwinding->subject, is_second ? 2 : 1);
		}
	}
}

START_TEST(two_copies_in_one_result)
{
	uint32_t count;

	write_source();
	struct profile_reader *old = fixture_open();
	struct profile_reader *new = copy_twice(old);
	ck_assert(profile_reader_complete(new));
	expect_tree(old, new);
	expect_samples(old, new);
	expect_threads(old, new);
	expect_unwindings(new);
	ck_assert_uint_eq(profile_reader_module_count(new), 2 * profile_reader_module_count(old));
	ck_assert_uint_eq(profile_reader_module(new, 1)->image, 2);
	ck_assert_uint_eq(profile_reader_module(new, 1)->pgoff, 0x1000);
	ck_assert_uint_eq(profile_reader_module(new, 1)->rva, 0x2000);
	ck_assert_uint_eq(profile_reader_note_count(new), 2);
	ck_assert_str_eq(profile_reader_text(new, profile_reader_note(new, 1)->text), "app --fast");
	ck_assert_uint_eq(profile_reader_symbol_count(new), 1);
	const struct profile_symbol *symbol = profile_reader_symbols(new, FRAMES + 2, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(profile_reader_symtext(new, symbol->name), "leaf");
	ck_assert_str_eq(profile_reader_symtext(new, symbol->full), "");
	ck_assert_str_eq(profile_reader_symtext(new, symbol->file), "leaf.c");
	profile_reader_close(new);
	profile_reader_close(old);
}
END_TEST

/* On a disk that is full, and for symbols of which the result is gone. */
START_TEST(no_room)
{
	struct profile_run run = {.clock = {1, 1, 1, 1}, .interval_ns = 1, .event_name = "x"};
	struct rlimit limit = {0, RLIM_INFINITY};
	struct profile_copy copy = {0};

	write_source();
	copy.reader = fixture_open();
	assert_success(profile_writer_create(copy_path, &run, &copy.writer));
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* What is copied is flushed each second. */
	usleep(1100000);
	TBRW_U32 code = profile_copy_all(&copy);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert(code == VT_WRITE_ERROR || code == VT_NO_SPACE);
	profile_writer_abandon(copy.writer);
	ck_assert_int_eq(unlink(copy_path), 0);
	ck_assert_uint_ne(profile_copy_symbols(&copy, copy_path), VT_SUCCESS);
	profile_copy_finish(&copy);
	profile_reader_close(copy.reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile copy");
	TCase *tcase = tcase_create("copy");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, two_copies_in_one_result);
	tcase_add_test(tcase, no_room);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
