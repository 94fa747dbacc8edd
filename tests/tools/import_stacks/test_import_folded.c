/* Folded stacks as results: our own exports come back as they were, other tools' as far as they go.
 */
#include "tests/support/suite.h"
#include "tests/tools/export/hostile_result.h"
#include "tests/tools/import_stacks/imported.h"
#include "tests/tools/known_result.h"
#include "tools/import_stacks/line_reader.h"
#include "tools/import_stacks/stack_result.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct build_result known = {.samples = known_samples,
					  .count = KNOWN_SAMPLES,
					  .is_finalized = true,
					  .is_lossless = true};

static void read_text(const char *text)
{
	imported_check(import_folded_read, text, strlen(text));
}

/* The import of the text is folded again as expected. */
static void check_folded(const char *text, bool with_threads, const char *expected)
{
	read_text(text);
	char *folded = known_fold(imported_path, with_threads);
	ck_assert(strcmp(folded, expected) == 0);
	free(folded);
}

static void check_round_trip(bool with_threads)
{
	char *text = known_fold(build_path, with_threads);
	ck_assert_uint_gt(strlen(text), 10);
	check_folded(text, with_threads, text);
	free(text);
}

START_TEST(test_round_trip)
{
	build_result_write(build_path, &known);
	check_round_trip(_i);
}
END_TEST

START_TEST(test_round_trip_of_hostile_names)
{
	hostile_result_write(build_path);
	check_round_trip(_i);
}
END_TEST

/* Guessed frames, time in the kernel, frames without names. */
START_TEST(test_round_trip_of_marks)
{
	static const struct build_sample samples[] = {
		{.stack = "app:main~ app:outer~ app:work",
		 .count = 3,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED},
		{.stack = "app:main ?:x app:work", .count = 2, .cpu_ms = 1},
		{.stack = "app:main app:work.cold", .count = 2, .cpu_ms = 1},
		{.stack = "", .count = 4, .cpu_ms = 2, .is_kernel_only = true},
		{.stack = "lib:leaf",
		 .count = 1,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_SKIPPED,
		 .reason = PROFILE_SKIP_BUDGET},
	};
	build_result_write(build_path, &(struct build_result){.samples = samples,
							      .count = 5,
							      .is_finalized = true,
							      .is_lossless = true});
	check_round_trip(_i);
}
END_TEST

START_TEST(test_other_tools)
{
	check_folded("# remark\n\ncc1plus;std::map<int, long>::find(int const&);operator new 12\r\n"
		     "cc1plus;main 3\nsh;main 0\nsh;main 2\ncc1plus;main 4",
		     false,
		     "cc1plus;main 7\n"
		     "cc1plus;std::map<int, long>::find(int const&);operator new 12\nsh;main 2\n");
	struct profile_reader *reader = known_reader(imported_path);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 21);
	ck_assert_uint_eq(profile_reader_clock_count(reader), 0);
	ck_assert_uint_eq(profile_reader_interval_ns(reader), 0);
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	profile_reader_close(reader);
	char *warnings = imported_warnings();
	ck_assert_str_eq(warnings,
			 "folded stacks have counts, and no times: each count is shown as 10 ms of "
			 "CPU time, and the order of samples is not known\n");
	free(warnings);
}
END_TEST

/* Stacks that begin with functions have no process. */
START_TEST(test_without_processes)
{
	check_folded("main();work 5\nmain() 1\n", false,
		     "[Unknown];main() 1\n[Unknown];main();work 5\n");
	char *warnings = imported_warnings();
	ck_assert_ptr_nonnull(strstr(warnings, "the stacks do not begin with processes\n"));
	free(warnings);
}
END_TEST

START_TEST(test_bad_lines)
{
	check_folded("a;b 3\nno count\na;c -1\na;d 99999999999999999999999\na;;e 1\n", false,
		     "a;[Unknown frame(s)];e 1\na;b 3\n");
	char *warnings = imported_warnings();
	ck_assert_ptr_nonnull(strstr(warnings, "3 lines of the file were not understood"));
	free(warnings);
	ck_assert_int_ne(imported_read(import_folded_read, "a;b\nc\n", 6), 0);
}
END_TEST

/* Counts of bytes or ns are no samples: records are scaled down, shares stay. */
START_TEST(test_large_counts)
{
	read_text("a;b 3000000000000\na;c 1000000000000\n");
	struct profile_reader *reader = known_reader(imported_path);
	ck_assert_uint_eq(profile_reader_sample_count(reader), STACK_SAMPLES_MAX);
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->cpu_ns, 4000000000000);
	profile_reader_close(reader);
	char *warnings = imported_warnings();
	ck_assert_ptr_nonnull(strstr(warnings, "each count is shown as 1 ns"));
	ck_assert_ptr_nonnull(strstr(warnings, "4000000000000 samples: they are scaled down"));
	free(warnings);
}
END_TEST

START_TEST(test_long_lines)
{
	size_t size = LINE_READER_MAX + 100;
	char *text = malloc(size);
	memset(text, 'x', size);
	memcpy(text, "a;b 1\nc;", 8);
	memcpy(text + size - 10, " 7\nd;e 2\n", 9);
	text[size - 1] = '\n';
	imported_check(import_folded_read, text, size);
	free(text);
	char *folded = known_fold(imported_path, false);
	ck_assert_str_eq(folded, "a;b 1\nd;e 2\n");
	free(folded);
	char *warnings = imported_warnings();
	ck_assert_ptr_nonnull(strstr(warnings, "1 line of the file was not understood"));
	free(warnings);
}
END_TEST

START_TEST(test_deep_stack)
{
	enum { DEPTH = 10000 };
	char *text = malloc(8 * DEPTH);
	size_t length = (size_t)sprintf(text, "a");
	for (int i = 0; i < DEPTH; i++)
		length += (size_t)sprintf(text + length, ";f%d", i);
	strcpy(text + length, " 1\n");
	read_text(text);
	char *folded = known_fold(imported_path, false);
	char *wanted = strstr(text, ";f1808;");
	ck_assert(strncmp(folded, "a;[Skipped frame(s)];f1808;", 27) == 0);
	ck_assert_str_eq(folded + strlen("a;[Skipped frame(s)]"), wanted);
	free(folded);
	free(text);
}
END_TEST

START_TEST(test_recognizes)
{
	static const struct {
		const char *head;
		bool is_folded;
	} files[] = {
		{"a;b 1\n", true},
		{"a 1", true},
		{"# x\na;b c 12\r\n", true},
		{"name,start_tsc.TSC,end_tsc\n", false},
		{"a;b\n", false},
		{"12\n", false},
		{" 12\n", false},
		{"{\"a\": 1}\n", false},
		{"a;b\x01 1\n", false},
		{"PERFILE2", false},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ck_assert_msg(import_folded_recognizes((const uint8_t *)files[i].head,
						       strlen(files[i].head)) == files[i].is_folded,
			      "%s", files[i].head);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import folded");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_loop_test(cases, test_round_trip, 0, 2);
	tcase_add_loop_test(cases, test_round_trip_of_hostile_names, 0, 2);
	tcase_add_loop_test(cases, test_round_trip_of_marks, 0, 2);
	tcase_add_test(cases, test_other_tools);
	tcase_add_test(cases, test_without_processes);
	tcase_add_test(cases, test_bad_lines);
	tcase_add_test(cases, test_large_counts);
	tcase_add_test(cases, test_long_lines);
	tcase_add_test(cases, test_deep_stack);
	tcase_add_test(cases, test_recognizes);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
