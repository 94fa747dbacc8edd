/* Time in system calls and faults that no stack stands for: a row of its own in every report. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* 30 ms of user code, 50 ms apart by two threads, and 20 ms of a thread without user code. */
static const struct build_sample samples[] = {
	{.stack = "app:main app:work", .cpu_ms = 10},
	{.stack = "app:main libc:read", .cpu_ms = 50, .kernel_ms = 40},
	{.stack = "app:main app:work", .cpu_ms = 20, .kernel_ms = 10, .thread = 1},
	{.stack = "", .count = 2, .cpu_ms = 10, .is_kernel_only = true, .thread = 2},
};
static const struct build_result result = {.samples = samples,
					   .count = 4,
					   .is_lossless = true,
					   .is_finalized = true,
					   .kernel_time = PROFILE_KERNEL_TIME_APART};

static const char *const csv[] = {"--format", "csv", "--call-stack-mode", "all", NULL};

static void expect(render_print *print, unsigned tally_by, const char *const *arguments,
		   const char *expected)
{
	char *text = render_report(&result, print, tally_by, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

/* Whether a report, cells separated by anything, has a line with these words in this order. */
static void expect_line(render_print *print, unsigned tally_by, const char *const *arguments,
			const char *begin, const char *end)
{
	char *text = render_report(&result, print, tally_by, arguments);
	const char *at = strstr(text, begin);
	ck_assert_msg(at && strstr(at, end) && strstr(at, end) < strchr(at + 1, '\n'),
		      "no '%s ... %s' in:\n%.3000s", begin, end, text);
	free(text);
}

START_TEST(hotspots)
{
	expect(report_hotspots_print, 0, csv,
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error,CPU Time:Total\n"
	       "[System calls and faults],0.070000,2,[System calls and faults],"
	       "[System calls and faults],,,10.9545,0.070000\n"
	       "work,0.020000,2,app,work(int),app.c,0x1020,10.9545,0.020000\n"
	       "read,0.010000,1,libc.so.6,read(int),app.c,0x1010,8.9443,0.010000\n");
}
END_TEST

/* Loop: by whom. */
START_TEST(grouped)
{
	static const char *const groups[][2] = {
		{"thread", "Thread,TID,CPU Time,Samples,Share Std Error\napp,100,0.060000,2,\n"
			   "helper,102,0.020000,2,\nworker,101,0.020000,1,\n"},
		{"module",
		 "Module,CPU Time,Samples,Share Std Error,CPU Time:Total\n[System calls and "
		 "faults],0.070000,2,10.9545,0.070000\n"
		 "app,0.020000,2,10.9545,0.030000\nlibc.so.6,0.010000,1,8.9443,0.010000\n"},
		{"source-file",
		 "Source File,CPU Time,Samples,Share Std Error,CPU Time:Total\n[System calls and "
		 "faults],0.070000,2,10.9545,0.070000\n"
		 "app.c,0.030000,3,10.9545,0.030000\n"},
	};
	expect(report_hotspots_print, TALLY_BY_THREAD,
	       (const char *const[]){"--format=csv", "--group-by", groups[_i][0],
				     "--call-stack-mode=all", NULL},
	       groups[_i][1]);
}
END_TEST

START_TEST(grouped_by_process)
{
	const char *const arguments[] = {"--format=csv", "--group-by=process", NULL};
	expect_line(report_hotspots_print, TALLY_BY_THREAD, arguments, "\napp,100,", "0.080000,3");
	expect_line(report_hotspots_print, TALLY_BY_THREAD, arguments, "\nhelper,101,",
		    "0.020000,2");
}
END_TEST

START_TEST(modules)
{
	expect(report_modules_print, 0, csv,
	       "Module,Path,CPU Time,Samples,Share Std Error,CPU Time:Total\n"
	       "[System calls and faults],,0.070000,2,10.9545,0.070000\n"
	       "app,/opt/app/app,0.020000,2,10.9545,0.030000\n"
	       "libc.so.6,/usr/lib/x86_64-linux-gnu/libc.so.6,0.010000,1,8.9443,0.010000\n");
}
END_TEST

START_TEST(threads)
{
	expect(report_threads_print, TALLY_BY_THREAD, csv,
	       "Thread,TID,Process,PID,CPU Time,Wait Time,Samples\n"
	       "app,100,app,100,0.060000,,2\n"
	       "helper,102,helper,101,0.020000,,2\n"
	       "worker,101,app,100,0.020000,,1\n");
}
END_TEST

/* Loop: each mode of call stacks, in each direction. */
START_TEST(trees)
{
	static const char *const modes[] = {"all", "user-plus-one", "user-only"};
	const char *const arguments[] = {"--format=csv", "--call-stack-mode", modes[_i], NULL};
	expect_line(report_top_down_print, 0, arguments, "[System calls and faults],", "0.070000");
	expect_line(report_bottom_up_print, 0, arguments, "[System calls and faults],", "0.070000");
}
END_TEST

START_TEST(filters)
{
	static const char *const functions[] = {"--format=csv", "--filter",
						"function=[System calls and faults]", NULL};
	static const char *const users[] = {"--format=csv", "--call-stack-mode=all", "--filter",
					    "module=app", NULL};
	char *text = render_report(&result, report_hotspots_print, 0, functions);
	ck_assert_ptr_nonnull(strstr(text, "\n[System calls and faults],0.070000,2,"));
	ck_assert_ptr_null(strstr(text, "work"));
	free(text);
	text = render_report(&result, report_hotspots_print, 0, users);
	ck_assert_ptr_null(strstr(text, "[System"));
	ck_assert_ptr_nonnull(strstr(text, "\nwork,0.020000,2,"));
	free(text);
}
END_TEST

START_TEST(summary)
{
	char *text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "  system calls, faults:   0.070 s (70.0 %) in no "
					   "function: kernel mode was not sampled\n"));
	free(text);
	struct build_result sampled = result;
	sampled.kernel_time = PROFILE_KERNEL_TIME_AT_CALLS;
	text = render_report(&sampled, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "  system calls, faults:   in the functions that "
					   "entered the kernel, but for 0.070 s (70.0 %)\n"));
	free(text);
	text = render_report(&result, report_summary_print, 0,
			     (const char *const[]){"--format", "csv", NULL});
	ck_assert_ptr_nonnull(
		strstr(text, "\nkernel_time.where,apart\nkernel_time.in_no_function_s,0.07"));
	free(text);
}
END_TEST

/* Loop: what the result says of the kernel's time, older ones nothing. */
START_TEST(where_it_stands)
{
	static const char *const words[] = {NULL, "kernel mode was not sampled\n",
					    "in the functions that entered the kernel\n",
					    "in the kernel's functions\n", NULL};
	struct build_result other = {.samples = samples, .count = 1};
	other.kernel_time = (unsigned)_i;
	char *text = render_report(&other, report_summary_print, 0, NULL);
	ck_assert_int_eq(strstr(text, "system calls, faults:") != NULL, words[_i] != NULL);
	if (words[_i])
		ck_assert_ptr_nonnull(strstr(text, words[_i]));
	free(text);
}
END_TEST

/* Samples are counted as what they are; time alone is no sample. */
START_TEST(quality)
{
	expect_line(report_quality_print, TALLY_BY_THREAD | TALLY_BY_REASON,
		    (const char *const[]){"--format=json", NULL}, "\"samples\":5", "");
	char *text = render_report(&result, report_quality_print, TALLY_BY_THREAD | TALLY_BY_REASON,
				   NULL);
	ck_assert_ptr_nonnull(strstr(text, "[System calls and faults]"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("time in the kernel");
	TCase *tcase = tcase_create("reports");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, hotspots);
	tcase_add_loop_test(tcase, grouped, 0, 3);
	tcase_add_test(tcase, grouped_by_process);
	tcase_add_test(tcase, modules);
	tcase_add_test(tcase, threads);
	tcase_add_loop_test(tcase, trees, 0, 3);
	tcase_add_test(tcase, filters);
	tcase_add_test(tcase, summary);
	tcase_add_loop_test(tcase, where_it_stands, 0, 5);
	tcase_add_test(tcase, quality);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
