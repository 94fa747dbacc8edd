/* Reports of threads' states. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/render_report.h"
#include "tools/report/report.h"
#include "tools/report/report_options.h"
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define TEXT ((const char *const[]){NULL})
#define CSV  ((const char *const[]){"--format", "csv", NULL})

/* Of 2 s: both threads of app take turns, run together, and wait; the helper lives in between.
 * Samples are 10 ms apart from 10 ms on. */
static const struct build_slice slices[] = {
	{0, PROFILE_STATE_READY, 0, 400000, .cpu = 0},
	{1, PROFILE_STATE_READY, 400000, 200000, .cpu = 0},
	{0, PROFILE_STATE_READY, 600000, 600000, .cpu = 0},
	{1, PROFILE_STATE_BLOCKED, 1000000, 500000, .ready_us = 50000, .cpu = 1},
	{2, PROFILE_STATE_READY, 1500000, 100000, .cpu = 0},
	{0, PROFILE_STATE_BLOCKED, 2000000, 0, .cpu = 0},
	{1, PROFILE_STATE_STOPPED, 2000000, 0, .cpu = 1},
};
static const struct build_life lives[] = {{0, 0, 0}, {1, 0, 0}, {2, 1500000, 1750000}};
static const struct build_sample samples[] = {
	{.stack = "app:main app:one", .count = 10, .cpu_ms = 100},
	{.stack = "app:main app:two", .count = 1, .cpu_ms = 700, .thread = 1},
};
static const struct build_result known = {.states = PROFILE_STATES_SWITCHES,
					  .target_cpus = 2000,
					  .slices = slices,
					  .slice_count = 7,
					  .lives = lives,
					  .life_count = 3,
					  .samples = samples,
					  .count = 2,
					  .is_finalized = true};

static char *render(const struct build_result *result, const char *name, render_print *print,
		    unsigned tally_by, const char *const *arguments)
{
	build_result_write(build_path, result);
	return render_file_as(build_path, name, print, tally_by, arguments);
}

static void expect(const char *name, render_print *print, unsigned tally_by,
		   const char *const *arguments, const char *expected)
{
	char *text = render(&known, name, print, tally_by, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(utilization_csv)
{
	expect("utilization", report_utilization_print, TALLY_ONE_BY_ONE, CSV,
	       "Simultaneously Utilized Logical CPUs,Elapsed Time,Utilization\n"
	       "0,0.400000,Idle\n"
	       "1,1.400000,Poor\n"
	       "2,0.200000,Ideal\n");
	expect("utilization", report_utilization_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--format", "csv", "--by", "threads", NULL},
	       "Simultaneously Running Threads,Elapsed Time,Utilization\n"
	       "0,0.400000,Idle\n"
	       "1,0.750000,Poor\n"
	       "2,0.850000,Ideal\n");
	expect("utilization", report_utilization_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--format", "csv", "--target-concurrency", "1", NULL},
	       "Simultaneously Utilized Logical CPUs,Elapsed Time,Utilization\n"
	       "0,0.400000,Idle\n"
	       "1,1.400000,Ideal\n"
	       "2,0.200000,Over\n");
	expect("utilization", report_utilization_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--format", "csv", "--filter", "thread=worker", NULL},
	       "Simultaneously Utilized Logical CPUs,Elapsed Time,Utilization\n"
	       "0,1.300000,Idle\n"
	       "1,0.700000,Poor\n"
	       "2,0.000000,Ideal\n");
}
END_TEST

START_TEST(utilization_text)
{
	expect("utilization", report_utilization_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--width", "72", NULL},
	       "Elapsed Time:               2.000 s\n"
	       "Target:                     2 logical CPUs\n"
	       "Effective CPU Utilization:  45.0 % (0.900 of 2 logical CPUs)\n"
	       "  elapsed:                  Idle 20.0 %, Poor 70.0 %, Ok 0.0 %, Ideal 10.0 %\n"
	       "Average Thread Concurrency: 1.225\n"
	       "  elapsed:                  Idle 20.0 %, Poor 37.5 %, Ok 0.0 %, Ideal 42.5 %, "
	       "Over 0.0 %\n"
	       "Unknown:                    0.150 s of the threads' time (3.5 %), counted as not "
	       "running\n"
	       "\nSimultaneously Utilized Logical CPUs\n"
	       "CPUs  Elapsed Time  Elapsed %  Utilization\n"
	       "   0       0.400 s     20.0 %  Idle         ########\n"
	       "   1       1.400 s     70.0 %  Poor         ############################\n"
	       "   2       0.200 s     10.0 %  Ideal        ####\n"
	       "\nThread Concurrency: threads that ran or could run at once\n"
	       "Threads  Elapsed Time  Elapsed %  Utilization\n"
	       "      0       0.400 s     20.0 %  Idle         ############\n"
	       "      1       0.750 s     37.5 %  Poor         ######################\n"
	       "      2       0.850 s     42.5 %  Ideal        #########################\n");
}
END_TEST

static double number_of(struct json_object *object, const char *key)
{
	struct json_object *value;
	ck_assert_msg(json_object_object_get_ex(object, key, &value), "no %s", key);
	return json_object_get_double(value);
}

START_TEST(utilization_json)
{
	char *text = render(&known, "utilization", report_utilization_print, TALLY_ONE_BY_ONE,
			    (const char *const[]){"--format", "json", NULL});
	struct json_object *object = json_tokener_parse(text);
	struct json_object *rows;
	ck_assert_ptr_nonnull(object);
	ck_assert_double_eq(number_of(object, "elapsed_s"), 2);
	ck_assert_double_eq(number_of(object, "target_cpus"), 2);
	ck_assert_double_eq(number_of(object, "average_cpus"), 0.9);
	ck_assert_double_eq(number_of(object, "average_threads"), 1.225);
	ck_assert_double_eq(number_of(object, "unknown_s"), 0.15);
	ck_assert(json_object_object_get_ex(object, "concurrency", &rows));
	ck_assert_uint_eq(json_object_array_length(rows), 3);
	ck_assert_double_eq(number_of(json_object_array_get_idx(rows, 2), "elapsed_s"), 0.85);
	json_object_put(object);
	free(text);
}
END_TEST

/* Many numbers of threads are a few rows, none across a border of classes. */
START_TEST(utilization_merged)
{
	struct build_result result = known;
	result.target_cpus = 100000;
	char *text =
		render(&result, "utilization", report_utilization_print, TALLY_ONE_BY_ONE, TEXT);
	ck_assert_ptr_nonnull(strstr(text, "\n  1-7       1.600 s     80.0 %  Poor"));
	ck_assert_ptr_nonnull(strstr(text, "\n43-49       0.000 s      0.0 %  Poor\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n   50       0.000 s      0.0 %  Poor\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n51-55       0.000 s      0.0 %  Ok\n"));
	ck_assert_ptr_nonnull(strstr(text, "Ideal\n"));
	free(text);
}
END_TEST

START_TEST(threads_csv)
{
	expect("threads", report_threads_print, TALLY_BY_THREAD, CSV,
	       "Thread,TID,Process,PID,CPU Time,Wait Time,Samples,Ready Time,Stopped Time,"
	       "Unknown Time,Guessed Time,Running Time,Lifetime,Wait Count\n"
	       "app,100,app,100,1.000000,0.800000,10,0.200000,0.000000,0.000000,0.000000,"
	       "1.000000,2.000000,1\n"
	       "worker,101,app,100,0.700000,0.350000,1,0.450000,0.500000,0.000000,0.000000,"
	       "0.700000,2.000000,1\n"
	       "helper,102,helper,101,0.000000,0.000000,0,0.000000,0.000000,0.150000,0.000000,"
	       "0.100000,0.250000,0\n");
}
END_TEST

START_TEST(threads_text)
{
	expect("threads", report_threads_print, TALLY_BY_THREAD, TEXT,
	       "CPU Time   CPU %  Ready Time  Wait Time  Stopped Time  Unknown Time  Wait Count  "
	       "Samples  TID  PID  Process  Thread\n"
	       " 1.000 s  58.8 %     0.200 s    0.800 s       0.000 s       0.000 s           1  "
	       "     10  100  100  app      app\n"
	       " 0.700 s  41.2 %     0.450 s    0.350 s       0.500 s       0.000 s           1  "
	       "      1  101  100  app      worker\n"
	       " 0.000 s   0.0 %     0.000 s    0.000 s       0.000 s       0.150 s           0  "
	       "      0  102  101  helper   helper\n");
}
END_TEST

/* States are of whole threads: with a filter on functions nothing is said of them. */
START_TEST(threads_of_a_function)
{
	expect("threads", report_threads_print, TALLY_BY_THREAD,
	       (const char *const[]){"--format", "csv", "--filter", "function=two", NULL},
	       "Thread,TID,Process,PID,CPU Time,Wait Time,Samples\n"
	       "worker,101,app,100,0.700000,,1\n");
}
END_TEST

/* A sample each 10 ms: those from 1000 to 1190 ms saw two threads run. With a part in no sample,
 * and without states. */
START_TEST(hotspots_by_use)
{
	static const struct build_sample spread[] = {
		{.stack = "app:main app:wait", .count = 100, .cpu_ms = 1, .thread = 1},
		{.stack = "app:main app:one", .count = 40, .cpu_ms = 10},
	};
	struct build_result result = known;
	result.samples = spread;
	result.rest_ms = 12;
	char *text = render(&result, "hotspots", report_hotspots_print, TALLY_BY_RUNNING, CSV);
	ck_assert_str_eq(text,
			 "Function,CPU Time,Samples,Module,Function (Full),Source File,Start "
			 "Address,Share Std Error,Idle,Poor,Ok,Ideal,Over,CPU Time:Total\n"
			 "one,0.400000,40,app,one(int),app.c,0x1030,2.9232,0.000000,0.210000,"
			 "0.000000,0.190000,0.000000,0.400000\n"
			 "wait,0.100000,100,app,wait(int),app.c,0x1020,2.9232,0.000000,0.099000,"
			 "0.000000,0.001000,0.000000,0.100000\n"
			 "[No sample],0.012000,0,[Unknown],[No sample],,,,0.000000,0.007416,"
			 "0.000000,0.004584,0.000000,0.012000\n");
	free(text);
	text = render(&result, "hotspots", report_hotspots_print, TALLY_BY_RUNNING,
		      (const char *const[]){"--format", "csv", "--group-by", "module",
					    "--target-concurrency", "1", NULL});
	ck_assert_ptr_nonnull(strstr(text, "0.309000,0.191000,0.500000\n"));
	free(text);
	text = render(&result, "hotspots", report_hotspots_print, TALLY_BY_RUNNING,
		      (const char *const[]){"--limit", "1", NULL});
	ck_assert_str_eq(text, "CPU Time   CPU %   +-    Total     Poor    Ideal  Samples  Module  "
			       "Source File  Function\n"
			       " 0.400 s  78.1 %  2.9  0.400 s  0.210 s  0.190 s       40  app     "
			       "app.c        one\n");
	free(text);
	result.states = 0;
	result.slice_count = 0;
	text = render(&result, "hotspots", report_hotspots_print, TALLY_BY_RUNNING, CSV);
	ck_assert_ptr_null(strstr(text, "Ideal"));
	free(text);
}
END_TEST

START_TEST(timeline_text)
{
	expect("timeline", report_timeline_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--buckets", "20", NULL},
	       "2.000 s, 100 ms a character\n"
	       "  # mostly running   + ready (no CPU)   . blocked   : blocked, ran a little\n"
	       "  T stopped   ? unknown   [All]: tenths of 2 logical CPUs in use, * all\n\n"
	       "Thread         TID      Running\n"
	       "[All]                   1.800 s  5555555555**5555    \n"
	       "app            100      1.000 s  ####++######........\n"
	       "worker         101      0.700 s  ++++##...+#####TTTTT\n"
	       "helper         102      0.100 s                 #??  \n");
}
END_TEST

/* As wide as there is room, and only the most active. */
START_TEST(timeline_width)
{
	expect("timeline", report_timeline_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--width", "53", "--limit", "1", NULL},
	       "2.000 s, 100 ms a character\n"
	       "  # mostly running   + ready (no CPU)   . blocked   : blocked, ran a little\n"
	       "  T stopped   ? unknown   [All]: tenths of 2 logical CPUs in use, * all\n\n"
	       "Thread         TID      Running\n"
	       "[All]                   1.800 s  5555555555**5555    \n"
	       "app            100      1.000 s  ####++######........\n"
	       "2 more threads\n");
}
END_TEST

START_TEST(timeline_csv)
{
	expect("timeline", report_timeline_print, TALLY_ONE_BY_ONE,
	       (const char *const[]){"--format", "csv", "--bucket", "1.5s", "--limit", "1", NULL},
	       "Thread,TID,Process,PID,Start Time,End Time,Utilization,Running Time,Ready Time,"
	       "Wait Time,Stopped Time,Unknown Time\n"
	       "[All],,,,0.000000000,1.500000000,1.1333333333333333,1.700000000,0.650000000,"
	       "0.650000000,0.000000000,0.000000000\n"
	       "[All],,,,1.500000000,2.000000000,0.2,0.100000000,0.000000000,0.500000000,"
	       "0.500000000,0.150000000\n"
	       "app,100,app,100,0.000000000,1.500000000,0.66666666666666663,1.000000000,"
	       "0.200000000,0.300000000,0.000000000,0.000000000\n"
	       "app,100,app,100,1.500000000,2.000000000,0,0.000000000,0.000000000,0.500000000,"
	       "0.000000000,0.000000000\n");
}
END_TEST

/* A killed collection: threads without a record are rows of their own. */
START_TEST(killed)
{
	struct build_result result = known;
	result.is_abandoned = true;
	char *text = render(&result, "threads", report_threads_print, TALLY_BY_THREAD, CSV);
	ck_assert_ptr_nonnull(strstr(text, "\n[Unknown],102,,,0.000000,0.000000,0,0.000000,"));
	free(text);
	text = render(&result, "utilization", report_utilization_print, TALLY_ONE_BY_ONE, CSV);
	ck_assert_ptr_nonnull(strstr(text, "\n2,0.200000,Ideal\n"));
	free(text);
	text = render(&result, "timeline", report_timeline_print, TALLY_ONE_BY_ONE, CSV);
	ck_assert_ptr_nonnull(strstr(text, "\n[Unknown],102,,,1.5"));
	free(text);
}
END_TEST

START_TEST(summary)
{
	char *text = render(&known, "summary", report_summary_print, TALLY_BY_REASON, TEXT);
	render_expect(text,
		      (const char *const[]){
			      "\nEffective CPU Utilization: 45.0 % (0.900 of 2 logical CPUs)\n"
			      "  elapsed:                Idle 0.400 s, Poor 1.400 s, Ok 0.000 s, "
			      "Ideal 0.200 s\n"
			      "Thread Concurrency:       1.225 on average, running or ready\n"
			      "Thread Oversubscription:  0.000 s (0.0 % of CPU Time)\n"
			      "Wait Time:                1.150 s, 2 times; ready 0.650 s, stopped "
			      "0.500 s\n"
			      "CPU Time by Switches:     1.800 s (+5.88 % of the threads' CPU "
			      "Time)\n"
			      "  not known:              0.150 s of the threads' time\n",
			      NULL});
	text = render(&known, "summary", report_summary_print, TALLY_BY_REASON,
		      (const char *const[]){"--target-concurrency", "1", "--filter", "tid=101",
					    NULL});
	render_expect(
		text,
		(const char *const[]){
			"\nEffective CPU Utilization: 35.0 % (0.350 of 1 logical CPUs)\n",
			"\nWait Time:                0.350 s, 1 times; ready 0.450 s, stopped "
			"0.500 s\n"
			"CPU Time by Switches:     0.700 s (+0.00 % of the threads' CPU Time)\n",
			NULL});
	text = render(&known, "summary", report_summary_print, TALLY_BY_REASON,
		      (const char *const[]){"--filter", "function=one", NULL});
	ck_assert_ptr_null(strstr(text, "Wait Time"));
	free(text);
	text = render(&known, "quality", report_quality_print, TALLY_BY_THREAD | TALLY_BY_REASON,
		      TEXT);
	render_expect(text, (const char *const[]){"\nCPU Time by Switches:     1.800 s (+5.88 % of "
						  "the threads' CPU Time)\n",
						  NULL});
}
END_TEST

START_TEST(waits_json)
{
	struct build_result result = known;
	struct json_object *waits;
	result.wait_sources = 1u << PROFILE_WAIT_BY_OBSERVER;
	result.waits_lost = 12;
	char *text = render(&result, "summary", report_summary_print, TALLY_BY_REASON,
			    (const char *const[]){"--format", "json", NULL});
	struct json_object *object = json_tokener_parse(text);
	ck_assert(json_object_object_get_ex(object, "waits", &waits));
	ck_assert_double_eq(number_of(waits, "lost"), 12);
	ck_assert_double_eq(number_of(waits, "hidden_processes"), 0);
	json_object_put(object);
	free(text);
}
END_TEST

START_TEST(summary_json)
{
	char *text = render(&known, "summary", report_summary_print, TALLY_BY_REASON,
			    (const char *const[]){"--format", "json", NULL});
	struct json_object *object = json_tokener_parse(text);
	struct json_object *states, *elapsed;
	ck_assert(json_object_object_get_ex(object, "states", &states));
	ck_assert_double_eq(number_of(states, "average_cpus"), 0.9);
	ck_assert_double_eq(number_of(states, "wait_s"), 1.15);
	ck_assert_double_eq(number_of(states, "waits"), 2);
	ck_assert(!json_object_object_get_ex(object, "waits", NULL));
	ck_assert_double_eq_tol(number_of(states, "cpu_time_difference"), 0.058824, 1e-9);
	ck_assert(json_object_object_get_ex(states, "elapsed", &elapsed));
	ck_assert_double_eq(number_of(elapsed, "poor_s"), 1.4);
	json_object_put(object);
	free(text);
}
END_TEST

/* Losses are said where they are. */
START_TEST(summary_of_losses)
{
	static const struct build_slice lossy[] = {
		{0, PROFILE_STATE_READY, 0, 1000000, .flags = PROFILE_SLICE_CUT},
		{0, PROFILE_STATE_READY, 100, 100, .cpu = 0},
		{0, PROFILE_STATE_BLOCKED, 1500000, 500000, .flags = PROFILE_SLICE_AFTER_LOSS},
	};
	struct build_result result = known;
	result.slices = lossy;
	result.slice_count = 3;
	render_expect(render(&result, "summary", report_summary_print, TALLY_BY_REASON, TEXT),
		      (const char *const[]){"  guessed:                0.500 s of the threads' "
					    "time, as switches "
					    "were lost\n"
					    "  contradictory:          1 of 3 slices\n",
					    NULL});
	render_expect(render(&result, "utilization", report_utilization_print, TALLY_ONE_BY_ONE,
			     TEXT),
		      (const char *const[]){"\nGuessed:                    0.500 s of the threads' "
					    "time (11.8 %): switches were lost\n",
					    NULL});
	render_expect(render(&result, "threads", report_threads_print, TALLY_BY_THREAD, TEXT),
		      (const char *const[]){"Guessed Time", NULL});
}
END_TEST

static char *refuse(const struct build_result *result, char *(*why)(const struct report_input *),
		    const char *const *arguments)
{
	const char *const names[] = {"timeline", NULL};
	char *argv[16] = {(char *)(uintptr_t) "tbreport", (char *)(uintptr_t) "timeline"};
	struct report_options options;
	char *problem;
	int argc = 2;
	for (; *arguments; arguments++)
		argv[argc++] = (char *)(uintptr_t)*arguments;
	ck_assert_int_eq(report_options_parse(argc, argv, names, &options, &problem),
			 REPORT_OPTIONS_RUN);
	struct profile_reader *reader;
	build_result_write(build_path, result);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	char *text =
		why(&(struct report_input){.reader = reader, .path = "r", .options = &options});
	profile_reader_close(reader);
	report_options_finish(&options);
	return text;
}

START_TEST(refused)
{
	struct build_result result = {.samples = samples, .count = 1};
	char *text = refuse(&result, report_refuse_states, TEXT);
	ck_assert_str_eq(text, "r: no states of threads: switches were not recorded; collect with "
			       "tbcollect -c concurrency");
	free(text);
	ck_assert_ptr_null(refuse(&known, report_refuse_states, TEXT));
	text = refuse(&known, report_refuse_states,
		      (const char *const[]){"--filter", "function=one", NULL});
	ck_assert_str_eq(text, "--filter function=one: states are of whole threads; use process, "
			       "pid, thread or tid");
	free(text);
	text = refuse(&known, report_refuse_timeline,
		      (const char *const[]){"--bucket", "1us", "--format", "json", NULL});
	ck_assert_str_eq(text, "--bucket: 2000001 parts of time for 3 threads are too many; use "
			       "longer parts, or --limit");
	free(text);
	ck_assert_ptr_null(refuse(&known, report_refuse_timeline,
				  (const char *const[]){"--bucket", "1us", NULL}));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reports of states");
	TCase *tcase = tcase_create("reports of states");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_test(tcase, utilization_csv);
	tcase_add_test(tcase, utilization_text);
	tcase_add_test(tcase, utilization_json);
	tcase_add_test(tcase, utilization_merged);
	tcase_add_test(tcase, threads_csv);
	tcase_add_test(tcase, threads_text);
	tcase_add_test(tcase, threads_of_a_function);
	tcase_add_test(tcase, hotspots_by_use);
	tcase_add_test(tcase, timeline_text);
	tcase_add_test(tcase, timeline_width);
	tcase_add_test(tcase, timeline_csv);
	tcase_add_test(tcase, killed);
	tcase_add_test(tcase, summary);
	tcase_add_test(tcase, summary_json);
	tcase_add_test(tcase, waits_json);
	tcase_add_test(tcase, summary_of_losses);
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
