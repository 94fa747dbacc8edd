/* Reports of external data, and the filter by tasks, on samples at known times. */
#include "tests/support/suite.h"
#include "tests/tools/external/csv_file.h"
#include "tests/tools/render_report.h"
#include "tools/external/external_import.h"
#include "tools/report/report_options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Samples of 10 ms, 10 ms apart: at 10 to 40 ms `work` of thread 100 (process 100), at 50 and 60 ms
 * `other` of thread 101 (process 100), at 70 ms `alien` of thread 102 (process 101). */
static const struct build_sample samples[] = {
	{.stack = "app:main app:work", .count = 4, .cpu_ms = 10},
	{.stack = "app:main app:other", .count = 2, .cpu_ms = 10, .thread = 1},
	{.stack = "lib:alien", .count = 1, .cpu_ms = 10, .thread = 2},
};
static const struct build_result result = {.samples = samples,
					   .count = 3,
					   .is_finalized = true,
					   .is_lossless = true};

/* The collection starts at 1000 ms of the clock. outer nests an inner of its own name; early and
 * late touch: a moment at the border is late's. frame is of process 100, all of all. */
static const char tasks[] = "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid\n"
			    "outer,1005000000,1055000000,100,100\n"
			    "outer,1015000000,1025000000,100,100\n"
			    "early,1005000000,1020000000,,100\n"
			    "late,1020000000,1055000000,,100\n"
			    "wrong,1005000000,1055000000,101,100\n"
			    "frame,1035000000,1065000000,100,\n"
			    "all,1035000000,1200000000,,\n"
			    "all,1300000000,1300000000,,\n"
			    "\"a, \"\"b\"\"\",1300000000,1300000001,,\n";
static const char values[] = "tsc.CLOCK_MONOTONIC_RAW,way.COUNT,heat.INST,pid,tid\n"
			     "1000000000,10,20.5,100,100\n"
			     "1500000000,25,,100,100\n"
			     "1600000000,5,19.5,100,100\n"
			     "1600000000,7,,,\n";

static void import(const char *name, const char *text)
{
	struct external_import import = {.result = build_path, .name = name};
	ck_assert_uint_eq(profile_reader_open(build_path, &import.reader), 0);
	import.fd = csv_file_of(text, strlen(text));
	ck_assert_int_eq(external_import(&import), 0);
	close(import.fd);
	profile_reader_close(import.reader);
}

static void set_up(void)
{
	build_set_up();
	build_result_write(build_path, &result);
	import("t-hostname-box.csv", tasks);
	import("v-hostname-box.csv", values);
}

static void expect(render_print *print, unsigned by, const char *option, const char *value,
		   const char *expected)
{
	const char *arguments[] = {"--format", "csv", option, value, NULL};
	char *text = render_file(build_path, print, by, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

#define TASKS_HEADER                                                                       \
	"Task,Kind,Count,Total Time,Average,Minimum,Maximum,First Start,CPU Time,Samples," \
	"Top Functions\n"

START_TEST(by_name)
{
	expect(report_tasks_print, TALLY_BY_THREAD, NULL, NULL,
	       TASKS_HEADER
	       "all,frame,2,0.165000000,0.082500000,0.000000000,0.165000000,0.035000,0.040000,4,"
	       "\"other 50.0 %, work 25.0 %, alien 25.0 %\"\n"
	       "outer,task,2,0.060000000,0.030000000,0.010000000,0.050000000,0.005000,0.040000,4,"
	       "work 100.0 %\n"
	       "wrong,task,1,0.050000000,0.050000000,0.050000000,0.050000000,0.005000,0.000000,0,\n"
	       "late,task,1,0.035000000,0.035000000,0.035000000,0.035000000,0.020000,0.030000,3,"
	       "work 100.0 %\n"
	       "frame,frame,1,0.030000000,0.030000000,0.030000000,0.030000000,0.035000,0.030000,3,"
	       "\"other 66.7 %, work 33.3 %\"\n"
	       "early,task,1,0.015000000,0.015000000,0.015000000,0.015000000,0.005000,0.010000,1,"
	       "work 100.0 %\n"
	       "\"a, \"\"b\"\"\",frame,1,0.000000001,0.000000001,0.000000001,0.000000001,0.300000,"
	       "0.000000,0,\n");
}
END_TEST

START_TEST(slow_ones)
{
	expect(report_tasks_print, TALLY_BY_THREAD, "--filter", "function=work",
	       TASKS_HEADER
	       "all,frame,2,0.165000000,0.082500000,0.000000000,0.165000000,0.035000,0.010000,1,"
	       "work 100.0 %\n"
	       "outer,task,2,0.060000000,0.030000000,0.010000000,0.050000000,0.005000,0.040000,4,"
	       "work 100.0 %\n"
	       "wrong,task,1,0.050000000,0.050000000,0.050000000,0.050000000,0.005000,0.000000,0,\n"
	       "late,task,1,0.035000000,0.035000000,0.035000000,0.035000000,0.020000,0.030000,3,"
	       "work 100.0 %\n"
	       "frame,frame,1,0.030000000,0.030000000,0.030000000,0.030000000,0.035000,0.010000,1,"
	       "work 100.0 %\n"
	       "early,task,1,0.015000000,0.015000000,0.015000000,0.015000000,0.005000,0.010000,1,"
	       "work 100.0 %\n"
	       "\"a, \"\"b\"\"\",frame,1,0.000000001,0.000000001,0.000000001,0.000000001,0.300000,"
	       "0.000000,0,\n");
}
END_TEST

static char *list_slower(const char *limit)
{
	const char *arguments[] =
		{"--format", "csv", "--slower-than", "10ms", limit ? "--limit" : NULL, limit, NULL};
	return render_file_as(build_path, "tasks", report_tasks_print, TALLY_BY_THREAD, arguments);
}

/* Fewer rows are the first ones of all, also among intervals that are the same. */
START_TEST(slowest)
{
	import("same-hostname-box.csv", "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid\n"
					"same,1010000000,1050000000,,100\n"
					"same,1010000000,1050000000,,101\n"
					"same,1010000000,1050000000,,100\n"
					"short,1010000000,1015000000,,100\n"
					"same,1010000000,1050000000,,100\n"
					"longest,1000000000,1900000000,,\n");
	char *all = list_slower(NULL);
	ck_assert_ptr_nonnull(strstr(all, "\nlongest,frame,0.900000000,0.000000,,,0.070000,7,"));
	ck_assert_ptr_null(strstr(all, "short"));
	ck_assert_ptr_null(strstr(all, "outer,task,0.010000000"));
	const char *end = strchr(all, '\n') + 1;
	for (int limit = 1; *end; limit++) {
		char number[16];
		snprintf(number, sizeof(number), "%d", limit);
		char *some = list_slower(number);
		end = strchr(end, '\n') + 1;
		ck_assert_msg(strlen(some) == (size_t)(end - all) &&
				      memcmp(some, all, strlen(some)) == 0,
			      "%d rows:\n%s", limit, some);
		free(some);
		ck_assert_int_le(limit, 11);
	}
	free(all);
}
END_TEST

static TBRW_U32 explain(const struct report_input *input, FILE *stream, unsigned width)
{
	char *no_tasks = report_explain_tasks(input);
	char *no_counters = report_explain_counters(input);
	(void)width;
	fprintf(stream, "%.20s, %.20s", no_tasks ? no_tasks : "", no_counters ? no_counters : "");
	free(no_tasks);
	free(no_counters);
	return VT_SUCCESS;
}

START_TEST(without_any)
{
	expect(explain, TALLY_BY_THREAD, NULL, NULL, ", ");
	build_result_write(build_path, &result);
	expect(explain, TALLY_BY_THREAD, NULL, NULL, "no tasks or frames w, no counters were imp");
}
END_TEST

/* A sum of hostile intervals ends at the largest number. */
START_TEST(endless)
{
	build_result_write(build_path, &result);
	import("t-hostname-box.csv",
	       "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc,pid,tid\n"
	       "a,1000000000,9000000000000000000,,\na,1000000000,9000000000000000000,,\n"
	       "a,1000000000,9000000000000000000,,\n");
	expect(report_tasks_print, TALLY_BY_THREAD, "--limit", "1",
	       TASKS_HEADER "a,frame,3,18446744073.709551615,6148914691.236517205,"
			    "8999999999.000000000,8999999999.000000000,0.000000,0.070000,7,"
			    "\"work 57.1 %, other 28.6 %, alien 14.3 %\"\n");
}
END_TEST

START_TEST(counters)
{
	expect(report_counters_print, 0, NULL, NULL,
	       "Counter,Kind,Process,PID,TID,Values,Increase,Mean,Minimum,Maximum,First,Last,Sum,"
	       "First Time\n"
	       "heat,INST,app,100,100,2,,20,19.5,20.5,20.5,19.5,40,0.000000\n"
	       "way,COUNT,,,,1,0,7,7,7,7,7,7,0.600000\n"
	       "way,COUNT,app,100,100,3,20,13.333333333333334,5,25,10,5,40,0.000000\n");
}
END_TEST

/* Conditions on tasks and the CPU time and samples that meet them. */
static const struct {
	const char *condition;
	const char *sum; /* the rows of hotspots: "FUNCTION,CPU,SAMPLES " each */
} filters[] = {
	{"task=outer", "work,0.040000,4 "},
	{"task=early", "work,0.010000,1 "},
	{"task=late", "work,0.030000,3 "},
	{"task=~early|late", "work,0.040000,4 "},
	{"task=wrong", ""},
	{"task=frame", "other,0.020000,2 work,0.010000,1 "},
	{"task=all", "other,0.020000,2 alien,0.010000,1 work,0.010000,1 "},
	{"task=a, \"b\"", ""},
	{"task=way", ""},
};

START_TEST(filter)
{
	const char *arguments[] = {"--format", "csv", "--filter", filters[_i].condition, NULL};
	char *text = render_file(build_path, report_hotspots_print, 0, arguments);
	char sums[200] = "";
	for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		char *end = line;
		for (int i = 0; i < 3; i++)
			end = strchr(end, ',') + 1;
		strncat(sums, line, (size_t)(end - line - 1));
		strcat(sums, " ");
	}
	ck_assert_str_eq(sums, filters[_i].sum);
	free(text);
}
END_TEST

/* The report of a task has the time that the filter gives; in every report. */
START_TEST(every_report)
{
	static const struct {
		render_print *print;
		unsigned by;
	} reports[] = {{report_hotspots_print, 0},
		       {report_top_down_print, 0},
		       {report_bottom_up_print, 0},
		       {report_modules_print, 0},
		       {report_threads_print, TALLY_BY_THREAD},
		       {report_tasks_print, TALLY_BY_THREAD}};
	const char *arguments[] = {"--format", "csv", "--filter", "task=late", NULL};
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		char *text = render_file(build_path, reports[i].print, reports[i].by, arguments);
		ck_assert_msg(strstr(text, "0.030000"), "%s", text);
		ck_assert_msg(!strstr(text, "0.070000") && !strstr(text, "0.040000,"), "%s", text);
		free(text);
	}
}
END_TEST

/* A sample is the innermost task's own, and in the totals of all that it lies in; frames are none.
 */
START_TEST(hotspots_by_task)
{
	const char *arguments[] = {"--format", "csv", "--group-by", "task", NULL};
	char *text = render_file(build_path, report_hotspots_print, 0, arguments);
	render_expect(text,
		      (const char *const[]){"Task,CPU Time,Samples,Share Std Error,CPU Time:Total\n"
					    "[Outside any task],0.030000,3,18.7044,0.030000\n"
					    "late,0.030000,3,18.7044,0.030000\n"
					    "early,0.010000,1,13.2260,0.010000\n",
					    NULL});
	const char *by_total[] = {"--format",      "csv",    "--group-by",
				  "task",          "--sort", "cpu_time_total",
				  "--limit",       "1",      "--filter",
				  "function=work", NULL};
	text = render_file(build_path, report_hotspots_print, 0, by_total);
	render_expect(text,
		      (const char *const[]){"CPU Time:Total\nouter,0.000000,0,,0.040000\n", NULL});
}
END_TEST

/* Times of another host's file are dates. */
START_TEST(foreign)
{
	build_result_write(build_path, &result);
	import("t-hostname-other.csv", "name,start_tsc.UTC,end_tsc,pid,tid\n"
				       "x,2023-11-14 22:13:20.035,2023-11-14 22:13:20.065,,\n");
	expect(report_tasks_print, TALLY_BY_THREAD, NULL, NULL,
	       TASKS_HEADER
	       "x,frame,1,0.030000000,0.030000000,0.030000000,0.030000000,"
	       "2023-11-14 22:13:20.035000 UTC,0.030000,3,\"other 66.7 %, work 33.3 %\"\n");
}
END_TEST

#define COUNTERS_HEADER                                                                           \
	"Counter,Kind,Process,PID,TID,Values,Increase,Mean,Minimum,Maximum,First,Last,Sum,First " \
	"Time\n"

/* Two files of one counter, the second one earlier: each has gone up by its own steps. */
START_TEST(counter_of_two_files)
{
	build_result_write(build_path, &result);
	import("late-hostname-box.csv",
	       "tsc.CLOCK_MONOTONIC_RAW,way.COUNT\n1200000000,200\n1300000000,300\n");
	import("early-hostname-box.csv",
	       "tsc.CLOCK_MONOTONIC_RAW,way.COUNT\n1000000000,0\n1100000000,200\n");
	expect(report_counters_print, 0, NULL, NULL,
	       COUNTERS_HEADER "way,COUNT,,,,4,300,175,0,300,0,300,700,0.000000\n");
}
END_TEST

/* A number also before the collection, which is at 1000 ms. */
START_TEST(early_times)
{
	build_result_write(build_path, &result);
	import("t-hostname-box.csv",
	       "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc\nx,999998000,999999000\n");
	import("v-hostname-box.csv", "tsc.CLOCK_MONOTONIC_RAW,heat.INST\n999998000,7\n");
	expect(report_tasks_print, TALLY_BY_THREAD, NULL, NULL,
	       TASKS_HEADER "x,frame,1,0.000001000,0.000001000,0.000001000,0.000001000,-0.000002,"
			    "0.000000,0,\n");
	expect(report_counters_print, 0, NULL, NULL,
	       COUNTERS_HEADER "heat,INST,,,,1,,7,7,7,7,7,7,-0.000002\n");
}
END_TEST

/* What a report does with the result as it is on disk. false: the result does not open. */
static bool try_report(render_print *print, TBRW_U32 *code, size_t *size)
{
	struct report_options options;
	struct profile_reader *reader;
	char *problem;
	char *text;
	char *argv[] = {(char *)(uintptr_t) "tbreport", (char *)(uintptr_t) "tasks"};
	const char *names[] = {"tasks", NULL};
	if (profile_reader_open(build_path, &reader) != VT_SUCCESS)
		return false;
	ck_assert_int_eq(report_options_parse(2, argv, names, &options, &problem),
			 REPORT_OPTIONS_RUN);
	struct report_input input = {.reader = reader, .path = build_path, .options = &options};
	FILE *stream = open_memstream(&text, size);
	*code = print(&input, stream, 0);
	fclose(stream);
	free(text);
	report_options_finish(&options);
	profile_reader_close(reader);
	return true;
}

/* Damage at any place of the external data: all of a report, or none of it and a failure. */
START_TEST(damage)
{
	static render_print *const prints[] = {report_tasks_print, report_counters_print};
	struct stat before, after;
	TBRW_U32 code;
	size_t whole, size, failures = 0;
	build_result_write(build_path, &result);
	ck_assert_int_eq(stat(build_path, &before), 0);
	/* Without samples to be read: intervals of no length. */
	import("t-hostname-box.csv", "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc\nx,1,1\n");
	import("v-hostname-box.csv", "tsc.CLOCK_MONOTONIC_RAW,heat.INST\n1,7\n");
	ck_assert_int_eq(stat(build_path, &after), 0);
	ck_assert(try_report(prints[_i], &code, &whole) && code == VT_SUCCESS);
	FILE *file = fopen(build_path, "r+");
	for (long at = before.st_size; at < after.st_size; at += 16) {
		unsigned char bytes[16], damaged[16];
		fseek(file, at, SEEK_SET);
		size_t count = fread(bytes, 1, sizeof(bytes), file);
		for (size_t i = 0; i < count; i++)
			damaged[i] = (unsigned char)~bytes[i];
		fseek(file, at, SEEK_SET);
		fwrite(damaged, 1, count, file);
		fflush(file);
		if (try_report(prints[_i], &code, &size) && code != VT_SUCCESS) {
			ck_assert_uint_eq(size, 0);
			failures++;
		}
		fseek(file, at, SEEK_SET);
		fwrite(bytes, 1, count, file);
		fflush(file);
	}
	fclose(file);
	ck_assert_uint_gt(failures, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tasks");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, set_up, build_tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, without_any);
	tcase_add_test(cases, endless);
	tcase_add_test(cases, by_name);
	tcase_add_test(cases, slow_ones);
	tcase_add_test(cases, slowest);
	tcase_add_test(cases, counters);
	tcase_add_loop_test(cases, filter, 0, (int)(sizeof(filters) / sizeof(filters[0])));
	tcase_add_test(cases, every_report);
	tcase_add_test(cases, hotspots_by_task);
	tcase_add_test(cases, foreign);
	tcase_add_test(cases, counter_of_two_files);
	tcase_add_test(cases, early_times);
	tcase_add_loop_test(cases, damage, 0, 2);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
