/* Folded stacks of results with known content. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const path = build_path;

START_TEST(test_folded)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_finalized = true};
	build_result_write(path, &result);
	char *text = known_fold(path, false);
	ck_assert_str_eq(text, "app;[Guessed frame(s)];main 1\n"
			       "app;_start;start;main;outer;inner 2\n"
			       "app;_start;start;main;work 4\n"
			       "app;main;[Unknown frame(s)];func@0x1054 1\n"
			       "helper;[Skipped frame(s)];a:b;odd 3\n");
	free(text);
	text = known_fold(path, true);
	ck_assert_str_eq(text, "app;app-100;[Guessed frame(s)];main 1\n"
			       "app;app-100;_start;start;main;work 4\n"
			       "app;app-100;main;[Unknown frame(s)];func@0x1054 1\n"
			       "app;worker-101;_start;start;main;outer;inner 2\n"
			       "helper;helper-102;[Skipped frame(s)];a:b;odd 3\n");
	free(text);
}
END_TEST

/* Time in the kernel counts as the known_samples that it would have had; loop: or did have. */
START_TEST(test_folded_kernel_time)
{
	static const struct build_sample apart[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10},
		{.stack = "app:main", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
		{.stack = "app:main", .cpu_ms = 20, .kernel_ms = 10, .thread = 1},
		/* less than half an interval in all of it */
		{.stack = "app:main", .cpu_ms = 14, .kernel_ms = 4, .thread = 2},
	};
	static const struct build_sample sampled[] = {
		{.stack = "app:main", .count = KNOWN_SAMPLES, .cpu_ms = 10},
		{.stack = "", .count = 6, .cpu_ms = 9, .is_kernel_only = true},
		{.stack = "app:main", .cpu_ms = 10, .thread = 1},
		{.stack = "", .cpu_ms = 9, .is_kernel_only = true, .thread = 1},
		{.stack = "app:main", .cpu_ms = 10, .thread = 2},
	};
	struct build_result result = {.samples = _i == 0 ? apart : sampled,
				      .count = _i == 0 ? 4 : 5,
				      .is_finalized = true};
	build_result_write(path, &result);
	char *text = known_fold(path, false);
	ck_assert_str_eq(text, "app;[System calls and faults] 7\n"
			       "app;main 6\n"
			       "helper;main 1\n");
	free(text);
	text = known_fold(path, true);
	ck_assert_str_eq(text, "app;app-100;[System calls and faults] 6\n"
			       "app;app-100;main 5\n"
			       "app;worker-101;[System calls and faults] 1\n"
			       "app;worker-101;main 1\n"
			       "helper;helper-102;main 1\n");
	free(text);
}
END_TEST

START_TEST(test_folded_empty)
{
	struct build_result result = {0};
	build_result_write(path, &result);
	char *text = known_fold(path, true);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export folded");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_folded);
	tcase_add_loop_test(cases, test_folded_kernel_time, 0, 2);
	tcase_add_test(cases, test_folded_empty);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
