/* What recovery keeps of samples at random times, and of the threads' accounts. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tests/tools/render_report.h"
#include "tools/convert/recover.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(void)
{
	Suite *suite = suite_create("recovery of accounts");
	TCase *tcase = tcase_create("recovery");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, accounts, 0, PROFILE_SAMPLING_CPUS + 1);
	tcase_add_loop_test(tcase, reports, 0, PROFILE_SAMPLING_CPUS + 1);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
