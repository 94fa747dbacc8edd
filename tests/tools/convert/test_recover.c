/* What recovery keeps: all that the damaged file still holds. */
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tests/tools/render_report.h"
#include "tools/convert/recover.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS DRAWN_MS
#define US 1000UL

static char directory[32];
static char paths[3][64]; /* a result, what was recovered of it, and of that */

static void setup(void)
{
	build_directory(directory);
	for (size_t i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%zu.tb5", directory, i);
}

static void teardown(void)
{
	build_directory_remove(directory);
}

static const char *const names[] = {"cc1", "as"};
static const struct drawn_thread threads[] = {
	{0, "cc1", 200 * MS, 7 * MS, 0, false},
	{0, "pool", 6 * MS, 1 * MS, 3 * MS, false},
	{1, "as", 4 * MS, 0, 1 * MS, false},
	{1, "late", 0, 0, 0, true},
};
static const struct drawn_sample samples[] = {{0, 0, 10 * MS, 0},
					      {0, 1, 14 * MS, 4000},
					      {1, 2, 10 * MS, 0},
					      {2, 3, 10 * MS, PROFILE_KERNEL_ALL},
					      {3, 4, 13 * MS, 3000}};

static void write_result(uint32_t sampling)
{
	struct drawn_result result = {.sampling = sampling,
				      .interval_ns = 10 * MS,
				      .tick_ns = 1250000,
				      .seed = UINT64_MAX - 4,
				      .unattributed_ns = 13 * MS,
				      .unattributed_kernel_ns = 4 * MS,
				      .kernel_time = PROFILE_KERNEL_TIME_APART,
				      .names = names,
				      .process_count = 2,
				      .threads = threads,
				      .thread_count = 4,
				      .samples = samples,
				      .sample_count = 5};
	drawn_result_write(paths[0], &result);
}

static struct profile_reader *open_reader(const char *path)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	return reader;
}

static uint64_t note_of(const struct profile_reader *reader, enum profile_note_kind kind)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++)
		if (profile_reader_note(reader, i)->kind == kind)
			return profile_reader_note(reader, i)->value;
	return 0;
}

static void expect_same(const struct profile_reader *old, const struct profile_reader *new)
{
	static const enum profile_note_kind kinds[] = {PROFILE_NOTE_INTERVAL,
						       PROFILE_NOTE_SAMPLING,
						       PROFILE_NOTE_TICK,
						       PROFILE_NOTE_SEED,
						       PROFILE_NOTE_UNATTRIBUTED,
						       PROFILE_NOTE_UNATTRIBUTED_KERNEL,
						       PROFILE_NOTE_KERNEL_TIME};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		ck_assert_uint_eq(note_of(old, kinds[i]), note_of(new, kinds[i]));
	ck_assert_uint_eq(profile_reader_unattributed_ns(old), profile_reader_unattributed_ns(new));
	ck_assert_uint_eq(profile_reader_thread_count(old), 4);
	ck_assert_uint_eq(profile_reader_thread_count(new), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct profile_thread_info *left = profile_reader_thread(old, i);
		const struct profile_thread_info *right = profile_reader_thread(new, i);
		ck_assert_uint_eq(left->cpu_ns, right->cpu_ns);
		ck_assert_uint_eq(left->rest_ns, right->rest_ns);
		ck_assert_uint_eq(left->sampled_ns, right->sampled_ns);
		ck_assert_uint_eq(left->kernel_ns, right->kernel_ns);
		ck_assert_uint_eq(left->unseen_ns, right->unseen_ns);
		ck_assert_uint_eq(left->estimated_ns, right->estimated_ns);
		ck_assert_uint_eq(left->estimated_rest_ns, right->estimated_rest_ns);
		ck_assert_uint_eq(left->samples, right->samples);
		ck_assert_uint_eq(left->flags, right->flags);
		ck_assert_str_eq(left->name, right->name);
	}
}

/* Twice, so that a part that was added to an account would be there twice. Loop: kinds of times. */
START_TEST(accounts)
{
	struct progress progress = {0};
	write_result((uint32_t)_i);
	struct profile_reader *first = open_reader(paths[0]);
	/* The thread's part is three quarters of the 9 ms that are divided, and of the kernel's 4.
	 */
	bool is_fixed = profile_reader_sampling(first) == PROFILE_SAMPLING_FIXED;
	ck_assert_uint_eq(profile_reader_thread(first, 1)->estimated_ns, 9750 * US);
	ck_assert_uint_eq(profile_reader_thread(first, 1)->cpu_ns, 15750 * US);
	ck_assert_uint_eq(profile_reader_thread(first, 1)->rest_ns, is_fixed ? 10750 * US : 4 * MS);
	ck_assert_uint_eq(profile_reader_unattributed_ns(first), 0);
	ck_assert_uint_eq(profile_reader_thread(first, 3)->flags, PROFILE_THREAD_DEDUCED);
	for (size_t i = 0; i < 2; i++) {
		struct profile_reader *old = open_reader(paths[i]);
		ck_assert_uint_eq(recover_write(old, paths[i], paths[i + 1], &progress),
				  VT_SUCCESS);
		struct profile_reader *new = open_reader(paths[i + 1]);
		expect_same(first, new);
		profile_reader_close(new);
		profile_reader_close(old);
	}
	profile_reader_close(first);
}
END_TEST

/* And so reports show the same: those without names, which recovery leaves to finalization. */
START_TEST(reports)
{
	static const char *const options[][4] = {{"--format=csv", "--group-by=thread", NULL},
						 {"--format=csv", "--group-by=process", NULL},
						 {"--format=csv", "--group-by=module", NULL}};
	struct progress progress = {0};
	write_result((uint32_t)_i);
	struct profile_reader *reader = open_reader(paths[0]);
	ck_assert_uint_eq(recover_write(reader, paths[0], paths[1], &progress), VT_SUCCESS);
	profile_reader_close(reader);
	for (size_t i = 0; i < 3; i++) {
		char *before = render_file(paths[0], report_hotspots_print, 0, options[i]);
		char *after = render_file(paths[1], report_hotspots_print, 0, options[i]);
		ck_assert_str_eq(before, after);
		free(before);
		free(after);
	}
}
END_TEST

#define START_NS UINT64_C(1000000000)

enum { MARKED_SAMPLES = 3, MARKED_CUT = 40 };

/* The three kinds of code that run on x86-64. */
static const struct profile_module marked_modules[] = {
	{.pid = 7,
	 .image = 1,
	 .start = 0x8000,
	 .length = 0x1000,
	 .path = "/opt/old",
	 .cs = 0x23,
	 .is_32bit = true,
	 .is_executable = true,
	 .is_first = true},
	{.pid = 7,
	 .image = 2,
	 .start = 0x400000,
	 .length = 0x1000,
	 .pgoff = 0x1000,
	 .rva = 0x2000,
	 .load_ns = START_NS + 5,
	 .unload_ns = START_NS + 900,
	 .path = "/opt/new",
	 .cs = 0x33},
	{.image = 3,
	 .start = UINT64_C(0xffffffff81000000),
	 .length = 0x1000,
	 .path = "[kernel]",
	 .cs = 0x10,
	 .is_global = true},
};
static const struct profile_unwinding marked_unwindings[] = {
	{PROFILE_UNWINDING_THREAD, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{PROFILE_UNWINDING_IMAGE, 2, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35},
};

static void add_marked_code(struct profile_writer *writer)
{
	for (uint32_t i = 0; i < MARKED_SAMPLES; i++) {
		const struct profile_module *module = &marked_modules[i];
		struct profile_image image = {.kind = module->is_global ? PROFILE_IMAGE_KERNEL
									: PROFILE_IMAGE_FILE};
		struct profile_frame frame = {.image = i + 1, .rva = 0x10};
		struct profile_node node = {.parent = i, .frame = i};
		uint32_t index;
		ck_assert_uint_eq(profile_writer_add_image(writer, &image, module->path, &index),
				  VT_SUCCESS);
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
		ck_assert_uint_eq(profile_writer_add_node(writer, &node), VT_SUCCESS);
		ck_assert_uint_eq(profile_writer_add_module(writer, module), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_end_module(writer, &marked_modules[1]), VT_SUCCESS);
}

static void add_marked_lives(struct profile_writer *writer)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_thread_life thread = {
			.pid = 7,
			.tid = 7 + i,
			.end_ns = PROFILE_TIME_NEVER,
			.name = "marked",
			.unwinding = i == 1 ? &marked_unwindings[0] : NULL,
		};
		ck_assert_uint_eq(profile_writer_add_thread(writer, &thread), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_UNWINDING,
					     &marked_unwindings[1], NULL, NULL),
			  VT_SUCCESS);
}

static void add_marked_symbols(void)
{
	struct profile_writer *writer;
	struct profile_symbol_text text = {"old", "old(int)", "old.c"};
	ck_assert_uint_eq(profile_symbol_writer_begin(paths[0], &writer), VT_SUCCESS);
	for (uint16_t depth = 0; depth < 2; depth++) {
		struct profile_symbol symbol = {.frame = 1,
						.depth = depth,
						.flags = (uint16_t)(depth ? 0
									  : PROFILE_SYMBOL_INLINED),
						.line = 17,
						.start = 0x8,
						.size = 0x20};
		ck_assert_uint_eq(profile_symbol_writer_add(writer, &symbol, &text), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
}

/* A result in which each field that recovery once forgot has a value of its own. */
static void write_marked(void)
{
	struct profile_run run = {
		.clock = {.tsc = 77000, .raw_ns = START_NS, .real_ns = 1, .tsc_per_ns_q32 = 3},
		.interval_ns = 10 * MS,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_writer *writer;
	run.clock.tsc_per_ns_q32 <<= 32;
	ck_assert_uint_eq(profile_writer_create(paths[0], &run, &writer), VT_SUCCESS);
	add_marked_code(writer);
	for (uint32_t i = 0; i < MARKED_SAMPLES; i++) {
		struct profile_sample sample = {
			.time_ns = START_NS + 10 + i,
			.ip = marked_modules[i].start + 0x10,
			.flags = 0x246 + i,
			.pid = 7,
			.tid = 8,
			.cpu = 5,
			.cs = marked_modules[i].cs,
			.is_32bit = marked_modules[i].is_32bit,
			.stack = {.cpu_ns = MS, .node = i + 1, .collapsed = 4},
		};
		ck_assert_uint_eq(profile_writer_add_sample(writer, &sample), VT_SUCCESS);
	}
	add_marked_lives(writer);
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

/* As of a file of which a full disk kept less than all. */
static void cut(const char *path)
{
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(truncate(path, status.st_size - MARKED_CUT), 0);
}

struct taken {
	struct profile_sample_info samples[MARKED_SAMPLES];
	uint32_t count;
};

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	struct taken *taken = user;
	ck_assert_uint_lt(taken->count, MARKED_SAMPLES);
	memcpy(&taken->samples[taken->count++], sample, sizeof(*sample));
	return true;
}

static void expect_samples(struct profile_reader *old, struct profile_reader *new)
{
	struct taken left = {0};
	struct taken right = {0};
	ck_assert_uint_eq(profile_reader_each_sample(old, take_sample, &left), VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_each_sample(new, take_sample, &right), VT_SUCCESS);
	ck_assert_uint_eq(left.count, MARKED_SAMPLES);
	ck_assert_uint_eq(right.count, MARKED_SAMPLES);
	for (uint32_t i = 0; i < MARKED_SAMPLES; i++) {
		const struct profile_sample_info *a = &left.samples[i], *b = &right.samples[i];
		ck_assert_uint_eq(a->flags, 0x246 + i);
		ck_assert_uint_eq(b->flags, a->flags);
		ck_assert_uint_eq(b->cs, marked_modules[i].cs);
		ck_assert_uint_eq(b->is_32bit, marked_modules[i].is_32bit);
		ck_assert_uint_eq(b->tsc, a->tsc);
		ck_assert_uint_eq(b->ip, a->ip);
		ck_assert_uint_eq(b->cpu, 5);
		ck_assert_uint_eq(b->module, a->module);
		ck_assert_uint_eq(b->thread, a->thread);
		ck_assert_mem_eq(&b->stack, &a->stack, sizeof(a->stack));
	}
}

static void expect_modules(const struct profile_reader *new)
{
	ck_assert_uint_eq(profile_reader_module_count(new), MARKED_SAMPLES);
	for (uint32_t i = 0; i < MARKED_SAMPLES; i++) {
		const struct profile_module_info *info = profile_reader_module(new, i);
		const struct profile_module *module = &marked_modules[i];
		ck_assert_str_eq(info->path, module->path);
		ck_assert_uint_eq(info->image, module->image);
		ck_assert_uint_eq(info->cs, module->cs);
		ck_assert_uint_eq(info->is_32bit, module->is_32bit);
		ck_assert_uint_eq(info->is_executable, module->is_executable);
		ck_assert_uint_eq(info->is_global, module->is_global);
		ck_assert_uint_eq(info->pgoff, module->pgoff);
		ck_assert_uint_eq(info->rva, module->rva);
		ck_assert_uint_eq(info->unload_tsc, i == 1 ? 77000 + 3 * 900 : UINT64_MAX);
	}
}

static void expect_unwindings(const struct profile_reader *reader)
{
	ck_assert_uint_eq(profile_reader_unwinding_count(reader), 2);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_mem_eq(profile_reader_unwinding(reader, i), &marked_unwindings[i],
				 sizeof(marked_unwindings[i]));
}

static void expect_symbols(const struct profile_reader *reader)
{
	uint32_t count;
	const struct profile_symbol *symbols = profile_reader_symbols(reader, 1, &count);
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 2);
	ck_assert_uint_eq(count, 2);
	for (uint16_t depth = 0; depth < 2; depth++) {
		const struct profile_symbol *symbol = &symbols[depth];
		ck_assert_uint_eq(symbol->depth, depth);
		ck_assert_uint_eq(symbol->flags, depth ? 0 : PROFILE_SYMBOL_INLINED);
		ck_assert_uint_eq(symbol->line, 17);
		ck_assert_uint_eq(symbol->start, 0x8);
		ck_assert_uint_eq(symbol->size, 0x20);
		ck_assert_str_eq(profile_reader_symtext(reader, symbol->name), "old");
		ck_assert_str_eq(profile_reader_symtext(reader, symbol->full), "old(int)");
		ck_assert_str_eq(profile_reader_symtext(reader, symbol->file), "old.c");
	}
}

/* Twice, as above. Loop: a result that was cut, one that is whole and has symbols, which lie behind
 * all that a cut can reach. */
START_TEST(all_that_is_there)
{
	struct progress progress = {0};
	bool is_cut = _i == 0;
	write_marked();
	if (is_cut)
		cut(paths[0]);
	else
		add_marked_symbols();
	struct profile_reader *first = open_reader(paths[0]);
	ck_assert_int_eq(profile_reader_complete(first), !is_cut);
	expect_unwindings(first);
	for (size_t i = 0; i < 2; i++) {
		struct profile_reader *old = open_reader(paths[i]);
		ck_assert_uint_eq(recover_write(old, paths[i], paths[i + 1], &progress),
				  VT_SUCCESS);
		struct profile_reader *new = open_reader(paths[i + 1]);
		ck_assert(profile_reader_complete(new));
		expect_samples(first, new);
		expect_modules(new);
		expect_unwindings(new);
		if (!is_cut)
			expect_symbols(new);
		profile_reader_close(new);
		profile_reader_close(old);
	}
	profile_reader_close(first);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recovery");
	TCase *tcase = tcase_create("recovery");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, accounts, 0, PROFILE_SAMPLING_CPUS + 1);
	tcase_add_loop_test(tcase, reports, 0, PROFILE_SAMPLING_CPUS + 1);
	tcase_add_loop_test(tcase, all_that_is_there, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
