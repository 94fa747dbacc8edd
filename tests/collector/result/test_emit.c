/* What the collector hands over, as the profile reader reads it back. */
#include "collector/result/emit.h"
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct profile_clock start = {.tsc = 1000,
					   .raw_ns = 1000,
					   .real_ns = 1700000000000000000u,
					   .tsc_per_ns_q32 = UINT64_C(1) << 32};
static const struct profile_clock end = {.tsc = 9000,
					 .raw_ns = 9000,
					 .real_ns = 1700000000000008000u,
					 .tsc_per_ns_q32 = UINT64_C(1) << 32};

static char folder[32];
static char path[64];
static struct failure failure;

static void setup(void)
{
	strcpy(folder, "/tmp/emit-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/r000hs.tb5", folder);
	failure = (struct failure){0};
}

static void teardown(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct emit *create(void)
{
	struct emit *emit = NULL;
	ck_assert_int_eq(emit_create(path, "result", &start, 10000000, NULL, &emit, &failure), 0);
	return emit;
}

/* A process with a module, a stack of one frame, and one sample in it. */
static void fill(struct emit *emit)
{
	struct profile_image file = {.kind = PROFILE_IMAGE_FILE};
	uint32_t image = emit_image(emit, &file, "/opt/app");
	struct profile_module module = {.pid = 70,
					.image = image,
					.start = 0x400000,
					.length = 0x1000,
					.pgoff = 0x1000,
					.rva = 0x2000,
					.load_ns = 1500,
					.unload_ns = 5000,
					.path = "/opt/app",
					.is_executable = true,
					.is_first = true};
	emit_module_load(emit, &module);
	emit_frame(emit, &(struct profile_frame){.image = image, .rva = 0x1010});
	emit_node(emit, &(struct profile_node){.parent = 0, .frame = 0});
	emit_sample(emit, &(struct profile_sample){.time_ns = 2000,
						   .ip = 0x400010,
						   .flags = 0x246,
						   .pid = 70,
						   .tid = 71,
						   .cpu = 3,
						   .cs = 0x33,
						   .stack = {.cpu_ns = 12345,
							     .node = 1,
							     .state = PROFILE_STACK_COMPLETE}});
	emit_module_unload(emit, &module);
	emit_process(emit, &(struct profile_process){.pid = 70,
						     .start_ns = 1200,
						     .end_ns = PROFILE_TIME_NEVER,
						     .path = "/opt/app",
						     .name = "app"});
	emit_thread(emit, &(struct profile_thread_life){.pid = 70,
							.tid = 71,
							.start_ns = 1300,
							.end_ns = 6000,
							.cpu_ns = 20000,
							.rest_ns = 7655,
							.samples = 1,
							.name = "worker"});
	emit_note(emit, PROFILE_NOTE_WARNING, 3000, .value = 17, .pid = 70, .tid = 71,
		  .text = "a warning");
}

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	*(struct profile_sample_info *)user = *sample;
	return true;
}

static void check_filled(struct profile_reader *reader)
{
	struct profile_sample_info sample = {0};
	ck_assert_uint_eq(profile_reader_sample_count(reader), 1);
	ck_assert_uint_eq(profile_reader_each_sample(reader, take_sample, &sample), VT_SUCCESS);
	ck_assert_uint_eq(sample.ip, 0x400010);
	ck_assert_uint_eq(sample.pid, 70);
	ck_assert_uint_eq(sample.tid, 71);
	ck_assert_uint_eq(sample.cpu, 3);
	ck_assert_uint_eq(profile_reader_raw_ns(reader, sample.tsc), 2000);
	ck_assert_uint_eq(sample.stack.cpu_ns, 12345);
	ck_assert_uint_eq(sample.stack.node, 1);
	const struct profile_module_info *module = profile_reader_module(reader, sample.module);
	ck_assert_uint_eq(module->start, 0x400000);
	ck_assert_uint_eq(module->length, 0x1000);
	ck_assert_uint_eq(module->pgoff, 0x1000);
	ck_assert_uint_eq(module->rva, 0x2000);
	ck_assert_uint_eq(profile_reader_raw_ns(reader, module->load_tsc), 1500);
	ck_assert_uint_eq(profile_reader_raw_ns(reader, module->unload_tsc), 5000);
	ck_assert_str_eq(module->path, "/opt/app");
	ck_assert(module->is_executable);
}

START_TEST(all_of_it_is_read_back)
{
	struct emit *emit = create();
	fill(emit);
	ck_assert_int_eq(emit_failed(emit, &failure), 0);
	ck_assert_int_eq(emit_finish(emit, "hotspots", "app --fast", &end, &failure), 0);

	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	ck_assert(profile_reader_complete(reader));
	check_filled(reader);
	const struct profile_process_info *process = profile_reader_process(reader, 0);
	ck_assert_uint_eq(process->pid, 70);
	ck_assert_str_eq(process->name, "app");
	ck_assert_uint_eq(profile_reader_raw_ns(reader, process->start_tsc), 1200);
	ck_assert_uint_eq(process->end_tsc, UINT64_MAX);
	const struct profile_thread_info *thread = profile_reader_thread(reader, 0);
	ck_assert_str_eq(thread->name, "worker");
	ck_assert_uint_eq(thread->cpu_ns, 20000);
	ck_assert_uint_eq(thread->rest_ns, 7655);
	ck_assert_uint_eq(thread->samples, 1);
	ck_assert_uint_eq(profile_reader_raw_ns(reader, thread->end_tsc), 6000);
	profile_reader_close(reader);
}
END_TEST

START_TEST(notes_keep_what_they_are_given)
{
	struct emit *emit = create();
	emit_note(emit, PROFILE_NOTE_WARNING, 3000, .value = 17, .pid = 70, .tid = 71,
		  .text = "a warning");
	emit_note(emit, PROFILE_NOTE_SAMPLES_LOST, 4000, .value = 5);
	ck_assert_int_eq(emit_finish(emit, "hotspots", "app", &end, &failure), 0);

	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	unsigned found = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_WARNING) {
			ck_assert_uint_eq(note->value, 17);
			ck_assert_uint_eq(note->pid, 70);
			ck_assert_uint_eq(note->tid, 71);
			ck_assert_str_eq(profile_reader_text(reader, note->text), "a warning");
			found++;
		} else if (note->kind == PROFILE_NOTE_SAMPLES_LOST) {
			ck_assert_uint_eq(note->value, 5);
			ck_assert_str_eq(profile_reader_text(reader, note->text), "");
			found++;
		}
	}
	ck_assert_uint_eq(found, 2);
	profile_reader_close(reader);
}
END_TEST

START_TEST(machine)
{
	struct emit *emit = create();
	char name[256];
	emit_host(emit);
	ck_assert_int_eq(emit_finish(emit, "hotspots", "app", &end, &failure), 0);

	struct profile_reader *reader;
	struct profile_host_info info;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	profile_reader_host(reader, &info);
	ck_assert_int_eq(gethostname(name, sizeof(name)), 0);
	ck_assert_str_eq(info.name, name);
	ck_assert_int_eq((long)info.logical_cpus, sysconf(_SC_NPROCESSORS_ONLN));
	profile_reader_close(reader);
}
END_TEST

START_TEST(abandoned_stays_readable)
{
	struct emit *emit = create();
	fill(emit);
	emit_abandon(emit);
	emit_abandon(NULL);

	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	ck_assert(!profile_reader_complete(reader));
	profile_reader_close(reader);
}
END_TEST

START_TEST(place_that_is_none)
{
	struct emit *emit = NULL;
	ck_assert_int_eq(emit_create("/no/such/folder/x.tb5", "its name", &start, 1, NULL, &emit,
				     &failure),
			 -1);
	ck_assert_ptr_null(emit);
	ck_assert_msg(strstr(failure.text, "result its name: No such file") &&
			      strstr(failure.text, "-r"),
		      "%s", failure.text);
}
END_TEST

/* The first failure is kept, with its cause; what comes after does nothing. */
START_TEST(file_that_takes_no_more)
{
	struct emit *emit = create();
	struct rlimit before, small = {65536, 65536};
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 100000 && emit_failed(emit, &failure) == 0; i++)
		emit_note(emit, PROFILE_NOTE_WARNING, 3000, .value = 17, .pid = 70, .tid = 71,
			  .text = "a warning");
	int failed = emit_failed(emit, &failure);
	struct failure first = failure;
	fill(emit);
	int again = emit_failed(emit, &failure);
	struct emit *ended = emit;
	int finished = emit_finish(ended, "hotspots", "app", &end, &failure);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_eq(failed, -1);
	ck_assert_int_eq(again, -1);
	ck_assert_int_eq(finished, -1);
	ck_assert_msg(strstr(first.text, "the result result: ") != NULL, "%s", first.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("emit");
	TCase *tcase = tcase_create("emit");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, all_of_it_is_read_back);
	tcase_add_test(tcase, notes_keep_what_they_are_given);
	tcase_add_test(tcase, machine);
	tcase_add_test(tcase, abandoned_stays_readable);
	tcase_add_test(tcase, place_that_is_none);
	tcase_add_test(tcase, file_that_takes_no_more);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
