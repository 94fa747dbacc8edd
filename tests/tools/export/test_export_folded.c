/* Folded stacks of results with known content. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tools/export/folded_lines.h"
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t draw(uint32_t limit)
{
	static uint32_t state = 1;
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 16) % limit;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Lines of names that begin alike, and go on with bytes before and behind ';', are in the order of
 * whole texts; equal ones are one. */
START_TEST(test_order_of_lines)
{
	static const char *const names[] = {"a",         "a b", "a:", "a<", "ab",
					    "a\xc3\xa9", "",    "b",  "a;", "a\n"};
	enum { NAMES = sizeof(names) / sizeof(names[0]), LINES = 500, SIZE = 32 };
	static char texts[LINES][SIZE];
	struct folded_lines lines = {0};
	for (size_t i = 0; i < LINES; i++) {
		uint32_t line[4], count = 1 + draw(4);
		size_t length = 0;
		for (uint32_t j = 0; j < count; j++) {
			line[j] = folded_lines_name(&lines, names[draw(NAMES)]);
			length += (size_t)snprintf(texts[i] + length, SIZE - length, "%s%s",
						   j > 0 ? ";" : "", lines.names.texts[line[j]]);
		}
		folded_lines_add(&lines, line, count, 3);
		folded_lines_add(&lines, line, count, 0);
	}
	qsort(texts, LINES, SIZE, compare_texts);
	char *text, *at;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	folded_lines_write(&lines, 2, stream);
	fclose(stream);
	at = text;
	for (size_t i = 0, same = 1; i < LINES; i += same) {
		char expected[2 * SIZE];
		for (same = 1; i + same < LINES && strcmp(texts[i], texts[i + same]) == 0; same++)
			;
		int length = snprintf(expected, sizeof(expected), "%s %zu\n", texts[i],
				      (3 * same + 1) / 2);
		ck_assert_int_eq(strncmp(at, expected, (size_t)length), 0);
		at += length;
	}
	ck_assert_str_eq(at, "");
	free(text);
	folded_lines_finish(&lines);
}
END_TEST

/* Counts below half a unit are no lines. */
START_TEST(test_small_counts)
{
	struct folded_lines lines = {0};
	uint32_t line[] = {folded_lines_name(&lines, "x"), folded_lines_name(&lines, "y")};
	char text[64] = "";
	folded_lines_add(&lines, line, 1, 499);
	folded_lines_add(&lines, line, 2, 1499);
	FILE *stream = fmemopen(text, sizeof(text), "w");
	folded_lines_write(&lines, 1000, stream);
	fclose(stream);
	ck_assert_str_eq(text, "x;y 1\n");
	folded_lines_finish(&lines);
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
	tcase_add_test(cases, test_order_of_lines);
	tcase_add_test(cases, test_small_counts);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
