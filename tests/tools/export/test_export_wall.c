/* Exports of waits, and of all time of threads. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tests/tools/waited_result.h"
#include "tools/export/export.h"
#include "tools/functions/filter.h"
#include "tools/stacks/sampled_result.h"
#include "tools/waits/wall.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Folded stacks of the result at build_path, for the caller to free. */
static char *fold(const struct filter *filter, enum export_weight weight, bool with_threads)
{
	const struct export_options options = {.with_threads = with_threads, .weight = weight};
	struct sampled_result result;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	ck_assert_int_eq(sampled_result_open(&result, build_path, filter, TALLY_BY_THREAD, true),
			 0);
	ck_assert_uint_eq(wall_tally(&result.tally, result.reader, result.functions, filter),
			  VT_SUCCESS);
	struct weighted_stacks stacks = {.reader = result.reader,
					 .functions = result.functions,
					 .tally = &result.tally,
					 .filter = filter,
					 .mode = CALL_PATH_ALL,
					 .with_call_path = true};
	ck_assert_uint_eq(export_folded_write(&stacks, &options, stream), VT_SUCCESS);
	fclose(stream);
	sampled_result_close(&result);
	return text;
}

static void expect(const struct filter *filter, enum export_weight weight, bool with_threads,
		   const char *expected)
{
	char *text = fold(filter, weight, with_threads);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_wall)
{
	const struct filter everything = {0};
	build_result_write(build_path, &waited_result);
	expect(&everything, EXPORT_WEIGHT_WALL, true,
	       "app;app-100;[Ready] 50000\n"
	       "app;app-100;[Short waits] 50000\n"
	       "app;app-100;main;rest 100000\n"
	       "app;app-100;main;take;pthread_mutex_lock;__lll_lock_wait;[Mutex queue_lock+0x4] "
	       "500000\n"
	       "app;app-100;main;usleep;clock_nanosleep;[Sleep] 1000000\n"
	       "app;app-100;main;work 300000\n"
	       "app;worker-101;[Ready] 170000\n"
	       "app;worker-101;[Stopped] 40000\n"
	       "app;worker-101;worker;await;pthread_cond_wait;[Condition Variable 0x7f00000012a0] "
	       "600000\n"
	       "app;worker-101;worker;spin 150000\n"
	       "app;worker-101;worker;take;pthread_mutex_lock;[Mutex queue_lock+0x4] 200000\n");
}
END_TEST

/* The text behind a word. */
static void expect_behind(const char *text, const char *word, const char *expected)
{
	const char *at = strstr(text, word);
	ck_assert_ptr_nonnull(at);
	at += strlen(word);
	ck_assert_msg(strncmp(at, expected, strlen(expected)) == 0, "%s%s", word, at);
}

/* 60 ms of CPU time in the samples; see test_wall for the others. */
START_TEST(test_callgrind)
{
	size_t size;
	build_result_write(build_path, &waited_result);
	char *text = known_export(build_path, "callgrind", false, &size);
	expect_behind(text, "\nevents:", " CPU_ns Samples Wait_ns Wall_ns\n");
	expect_behind(text, "\ntotals:", " 60000000 6 2350000000 3160000000\n");
	free(text);
}
END_TEST

START_TEST(test_wait)
{
	struct filter filter = {0};
	build_result_write(build_path, &waited_result);
	expect(&filter, EXPORT_WEIGHT_WAIT, false,
	       "app;[Short waits] 50000\n"
	       "app;main;take;pthread_mutex_lock;__lll_lock_wait;[Mutex queue_lock+0x4] 500000\n"
	       "app;main;usleep;clock_nanosleep;[Sleep] 1000000\n"
	       "app;worker;await;pthread_cond_wait;[Condition Variable 0x7f00000012a0] 600000\n"
	       "app;worker;take;pthread_mutex_lock;[Mutex queue_lock+0x4] 200000\n");
	ck_assert_ptr_null(filter_add(&filter, "function=take"));
	expect(&filter, EXPORT_WEIGHT_WAIT, false,
	       "app;main;take;pthread_mutex_lock;__lll_lock_wait;[Mutex queue_lock+0x4] 500000\n"
	       "app;worker;take;pthread_mutex_lock;[Mutex queue_lock+0x4] 200000\n");
	filter_finish(&filter);
}
END_TEST

/* A part of the run has the parts of waits that lie in it. */
START_TEST(test_part)
{
	struct filter filter = {0};
	build_result_write(build_path, &waited_result);
	ck_assert_ptr_null(filter_set_from(&filter, "0.4s"));
	ck_assert_ptr_null(filter_set_to(&filter, "1s"));
	expect(&filter, EXPORT_WEIGHT_WAIT, true,
	       "app;app-100;[Short waits] 50000\n"
	       "app;app-100;main;take;pthread_mutex_lock;__lll_lock_wait;[Mutex queue_lock+0x4] "
	       "200000\n"
	       "app;app-100;main;usleep;clock_nanosleep;[Sleep] 250000\n"
	       "app;worker-101;worker;await;pthread_cond_wait;[Condition Variable 0x7f00000012a0] "
	       "500000\n"
	       "app;worker-101;worker;take;pthread_mutex_lock;[Mutex queue_lock+0x4] 100000\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export of waits");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_wall);
	tcase_add_test(cases, test_wait);
	tcase_add_test(cases, test_callgrind);
	tcase_add_test(cases, test_part);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
