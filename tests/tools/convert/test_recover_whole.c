/* What recovery makes of results that lack nothing but their end, or nothing. */
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tools/convert/recover.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[32];
static char path[64];
static char other_path[64];

static void set_up(void)
{
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
	snprintf(other_path, sizeof(other_path), "%s/other.tb5", directory);
}

static void tear_down(void)
{
	build_directory_remove(directory);
}

START_TEST(test_recover)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_abandoned = true};
	struct progress progress = {0};
	build_result_write(path, &result);
	struct profile_reader *reader = known_reader(path);
	ck_assert(!profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 11);
	ck_assert_uint_eq(recover_write(reader, path, other_path, &progress), VT_SUCCESS);
	profile_reader_close(reader);
	char *before = known_fold(path, true);
	char *after = known_fold(other_path, true);
	ck_assert_str_eq(after, before);
	free(before);
	free(after);
	reader = known_reader(other_path);
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 11);
	ck_assert_uint_eq(profile_reader_module_count(reader), 5);
	ck_assert_uint_eq(profile_reader_image_count(reader), 6);
	uint32_t notes = profile_reader_note_count(reader);
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(profile_reader_note(reader, 0)->kind, PROFILE_NOTE_WARNING);
	profile_reader_close(reader);
	known_finalize(other_path);
}
END_TEST

struct copied {
	uint64_t tsc[32];
	uint64_t cpu_ns;
	uint64_t kernel_us;
	size_t count;
};

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	struct copied *copied = user;
	copied->tsc[copied->count++] = sample->tsc;
	copied->cpu_ns += sample->stack.cpu_ns;
	copied->kernel_us += sample->stack.kernel_us;
	return copied->count < 32;
}

/* A complete result goes through unchanged, so what recovery keeps it keeps exactly. */
START_TEST(test_recover_keeps_everything)
{
	struct build_sample all[KNOWN_SAMPLES];
	struct build_result result = {.samples = all,
				      .count = KNOWN_SAMPLES,
				      .rest_ms = 3,
				      .kernel_time = PROFILE_KERNEL_TIME_APART,
				      .has_twins = true};
	struct progress progress = {0};
	memcpy(all, known_samples, sizeof(all));
	all[0].kernel_ms = 3;
	all[4].is_kernel_only = true;
	struct copied before = {0};
	struct copied after = {0};
	build_result_write(path, &result);
	struct profile_reader *old = known_reader(path);
	ck_assert_uint_eq(recover_write(old, path, other_path, &progress), VT_SUCCESS);
	struct profile_reader *new = known_reader(other_path);
	ck_assert_uint_eq(profile_reader_each_sample(old, take_sample, &before), VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_each_sample(new, take_sample, &after), VT_SUCCESS);
	ck_assert_int_eq(memcmp(&before, &after, sizeof(before)), 0);
	ck_assert_uint_eq(after.kernel_us, all[0].count * UINT64_C(3000) + PROFILE_KERNEL_ALL);
	struct profile_host_info left_host;
	struct profile_host_info right_host;
	profile_reader_host(old, &left_host);
	profile_reader_host(new, &right_host);
	ck_assert_str_eq(left_host.name, "box");
	ck_assert_str_eq(right_host.name, left_host.name);
	ck_assert_str_eq(right_host.os, left_host.os);
	ck_assert_uint_eq(left_host.logical_cpus, 4);
	ck_assert_uint_eq(right_host.logical_cpus, left_host.logical_cpus);
	ck_assert_uint_eq(profile_reader_note_count(new), profile_reader_note_count(old));
	ck_assert_uint_eq(profile_reader_clock_count(new), profile_reader_clock_count(old));
	ck_assert_uint_eq(profile_reader_process_count(new), profile_reader_process_count(old));
	ck_assert_uint_eq(profile_reader_thread_count(new), profile_reader_thread_count(old));
	for (uint32_t i = 0; i < profile_reader_thread_count(old); i++) {
		const struct profile_thread_info *left = profile_reader_thread(old, i);
		const struct profile_thread_info *right = profile_reader_thread(new, i);
		ck_assert_uint_eq(left->tid, right->tid);
		ck_assert_uint_eq(left->start_tsc, right->start_tsc);
		ck_assert_uint_eq(left->end_tsc, right->end_tsc);
		ck_assert_uint_eq(left->rest_ns, right->rest_ns);
		ck_assert_str_eq(left->name, right->name);
	}
	for (uint32_t i = 0; i < profile_reader_module_count(old); i++) {
		const struct profile_module_info *left = profile_reader_module(old, i);
		const struct profile_module_info *right = profile_reader_module(new, i);
		ck_assert_uint_eq(left->start, right->start);
		ck_assert_uint_eq(left->image, right->image);
		ck_assert_uint_eq(left->load_tsc, right->load_tsc);
		ck_assert_uint_eq(left->unload_tsc, right->unload_tsc);
		ck_assert_int_eq(left->is_executable, right->is_executable);
		ck_assert_str_eq(left->path, right->path);
	}
	unsigned commands = 0;
	unsigned started = 0; /* whose names of generated code count */
	for (uint32_t i = 0; i < profile_reader_note_count(old); i++) {
		const struct profile_note *left = profile_reader_note(old, i);
		const struct profile_note *right = profile_reader_note(new, i);
		ck_assert_uint_eq(left->kind, right->kind);
		ck_assert_uint_eq(left->pid, right->pid);
		ck_assert_uint_eq(left->tsc, right->tsc);
		ck_assert_uint_eq(left->value, right->value);
		ck_assert_str_eq(profile_reader_text(old, left->text),
				 profile_reader_text(new, right->text));
		commands += left->kind == PROFILE_NOTE_PROCESS_COMMAND;
		started += right->kind == PROFILE_NOTE_JIT_STARTED && right->pid == BUILD_PID &&
			   right->value == BUILD_JIT_STARTED &&
			   strcmp(profile_reader_text(new, right->text), BUILD_JIT_PATH) == 0;
	}
	ck_assert_uint_eq(commands, 3);
	ck_assert_uint_eq(started, 1);
	profile_reader_close(old);
	profile_reader_close(new);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recover whole");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_recover);
	tcase_add_test(cases, test_recover_keeps_everything);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
