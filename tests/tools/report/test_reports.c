/* What reports look like. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/render_report.h"
#include "tools/report/report.h"
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct build_sample samples[] = {
	{.stack = "app:_start libc:start libc:call_main app:main app:work",
	 .count = 4,
	 .cpu_ms = 10},
	{.stack = "app:_start libc:start libc:call_main app:main libc:read libc:lock",
	 .count = 2,
	 .cpu_ms = 10,
	 .thread = 1},
	{.stack = "lib:run,\"fast\"",
	 .count = 3,
	 .cpu_ms = 5,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_TRUNCATED,
	 .thread = 2},
	{.stack = "?", .count = 1, .cpu_ms = 1},
};

static const struct build_result example = {.samples = samples,
					    .count = 4,
					    .rest_ms = 4,
					    .is_finalized = true};

#define CSV ((const char *const[]){"--format", "csv", NULL})

static void expect(render_print *print, unsigned tally_by, const char *const *arguments,
		   const char *expected)
{
	char *text = render_report(&example, print, tally_by, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_hotspots_csv)
{
	expect(report_hotspots_print, 0, CSV,
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error\n"
	       "work,0.040000,4,app,work(int),app.c,0x1030,16.1151\n"
	       "read,0.020000,2,libc.so.6,read(int),app.c,0x1030,14.8719\n"
	       "\"run,\"\"fast\"\"\",0.015000,3,lib.so,\"run,\"\"fast\"\"(int)\",app.c,0x1010,10."
	       "5865\n"
	       "[No sample],0.004000,0,[Unknown],[No sample],,,\n"
	       "[Unknown frame(s)],0.001000,1,[Unknown],[Unknown frame(s)],,,1.3055\n");
}
END_TEST

START_TEST(test_hotspots_options)
{
	expect(report_hotspots_print, 0,
	       (const char *const[]){"--format=csv", "--limit", "1", "--call-stack-mode", "all",
				     "--filter", "module=libc.so.6", NULL},
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error\n"
	       "lock,0.020000,2,libc.so.6,lock(int),app.c,0x1040,15.6546\n");
	expect(report_hotspots_print, 0,
	       (const char *const[]){"--format=csv", "--call-stack-mode", "user-only", "--filter",
				     "function=main", NULL},
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error\n"
	       "main,0.020000,2,app,main(int),app.c,0x1020,15.6546\n");
}
END_TEST

START_TEST(test_hotspots_groups)
{
	expect(report_hotspots_print, TALLY_BY_THREAD,
	       (const char *const[]){"--format=csv", "--group-by=process", NULL},
	       "Process,PID,CPU Time,Samples,Processes,Share Std Error\n"
	       "app,100,0.065000,7,1,\n"
	       "helper,101,0.015000,3,1,\n");
	expect(report_hotspots_print, TALLY_BY_THREAD,
	       (const char *const[]){"--format=csv", "--group-by=pid", NULL},
	       "Process,PID,CPU Time,Samples,Command Line,Share Std Error\n"
	       "app,100,0.065000,7,\"app --fast \"\"a b\"\"\",\n"
	       "helper,101,0.015000,3,,\n");
	expect(report_hotspots_print, TALLY_BY_THREAD,
	       (const char *const[]){"--format=csv", "--group-by=thread", NULL},
	       "Thread,TID,CPU Time,Samples,Share Std Error\n"
	       "app,100,0.045000,5,\n"
	       "worker,101,0.020000,2,\n"
	       "helper,102,0.015000,3,\n");
	expect(report_hotspots_print, 0,
	       (const char *const[]){"--format=csv", "--group-by=source-file", NULL},
	       "Source File,CPU Time,Samples,Share Std Error\n"
	       "app.c,0.075000,9,1.3055\n"
	       "[No sample],0.004000,0,\n"
	       "[Unknown],0.001000,1,1.3055\n");
}
END_TEST

/* Processes of one name are one row by name, and one each by number, with what tells them apart. */
START_TEST(test_processes_of_one_name)
{
	static const struct build_result twins = {.samples = samples,
						  .count = 4,
						  .is_finalized = true,
						  .has_twins = true};
	static const struct {
		const char *group;
		const char *text;
	} cases[] = {
		{"process",
		 "Process,PID,CPU Time,Samples,Processes,Share Std Error\napp,,0.076000,10,2,\n"},
		{"pid", "Process,PID,CPU Time,Samples,Command Line,Share Std Error\n"
			"app,100,0.061000,7,app: first of 'a b',\n"
			"app,101,0.015000,3,app: second,\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = render_report(&twins, report_hotspots_print, TALLY_BY_THREAD,
					   (const char *const[]){"--format", "csv", "--group-by",
								 cases[i].group, NULL});
		ck_assert_str_eq(text, cases[i].text);
		free(text);
	}
}
END_TEST

static const struct {
	const char *filters[2];
	const char *words; /* NULL: nothing is missed */
} misses[] = {
	{{NULL}, NULL},
	{{"module=libc"}, NULL},
	{{"function=~^wor"}, NULL},
	{{"module=libd.so"},
	 "--filter module=libd.so: no such module in the result; did you mean lib.so?"},
	{{"function=wrok"},
	 "--filter function=wrok: no such function in the result; did you mean work?"},
	{{"thread=work"},
	 "--filter thread=work: no such thread in the result; did you mean worker?"},
	{{"process=xyz"},
	 "--filter process=xyz: no such process in the result; see tbreport hotspots --group-by "
	 "process"},
	{{"tid=1"}, "--filter tid=1: no such tid in the result; see tbreport threads"},
	{{"pid=1"},
	 "--filter pid=1: no such pid in the result; see tbreport hotspots --group-by pid"},
	{{"function=main"}, "--filter: no sample meets it; module and function are those of"},
	{{"function=lock"},
	 "--filter: no sample meets it where system functions count as part of their callers; use "
	 "--call-stack-mode all"},
	{{"function=call_main"},
	 "--filter: no sample meets it; module and function are those of a sample's own code, not "
	 "of its callers: see tbreport bottom-up --call-stack-mode all"},
	{{"module=app", "tid=102"}, "--filter: no sample meets all conditions at once; module"},
};

static char *missed;

static void explain_miss(const struct report_input *input, FILE *stream, unsigned width)
{
	(void)stream;
	(void)width;
	missed = report_explain_miss(input);
}

START_TEST(test_filter_misses)
{
	const char *arguments[5] = {NULL};
	for (size_t i = 0; i < 2 && misses[_i].filters[i]; i++) {
		arguments[2 * i] = "--filter";
		arguments[2 * i + 1] = misses[_i].filters[i];
	}
	free(render_report(&example, explain_miss, 0, arguments));
	if (misses[_i].words)
		ck_assert_msg(missed && strncmp(missed, misses[_i].words,
						strlen(misses[_i].words)) == 0,
			      "%s", missed ? missed : "nothing");
	else
		ck_assert_ptr_null(missed);
	free(missed);
}
END_TEST

/* The rest is 4 of 80 ms in the example; at 0.05 % and below it has no row. */
START_TEST(test_no_sample_threshold)
{
	struct tally tally = {.cpu_ns = 1999, .rest_ns = 1};
	ck_assert(!report_shows_no_sample(&tally));
	tally.rest_ns = 2;
	ck_assert(report_shows_no_sample(&tally));
	tally = (struct tally){0};
	ck_assert(!report_shows_no_sample(&tally));
}
END_TEST

START_TEST(test_top_down_csv)
{
	expect(report_top_down_print, 0, CSV,
	       "Function Stack,CPU Time:Self,Module,CPU Time:Total,Share Std Error\n"
	       "Total,0.000000,,0.080000,\n"
	       " _start,0.000000,app,0.060000,10.7501\n"
	       "  start,0.000000,libc.so.6,0.060000,10.7501\n"
	       "   main,0.000000,app,0.060000,10.7501\n"
	       "    work,0.040000,app,0.040000,16.1151\n"
	       "    read,0.020000,libc.so.6,0.020000,14.8719\n"
	       " [Skipped frame(s)],0.000000,[Unknown],0.015000,10.5865\n"
	       "\"  run,\"\"fast\"\"\",0.015000,lib.so,0.015000,10.5865\n"
	       " [Unknown frame(s)],0.001000,[Unknown],0.001000,1.3055\n"
	       " [No sample],0.004000,[Unknown],0.004000,\n");
}
END_TEST

/* Figures first, with the total at any width; a name is cut in its middle to fit. */
START_TEST(test_top_down_text)
{
	static const struct build_sample deep[] = {
		{.stack = "app:main app:a_function_of_no_small_length", .cpu_ms = 999, .count = 1},
		{.stack = "app:main app:seldom", .cpu_ms = 1, .count = 1},
	};
	static const struct build_result result = {.samples = deep,
						   .count = 2,
						   .is_finalized = true};
	static const char *const parts[] = {
		"CPU Time    CPU %  CPU Time:Self  Module  Function Stack\n"
		" 1.000 s  100.0 %        0.000 s          Total\n"
		" 1.000 s  100.0 %        0.000 s  app     `-main\n"
		" 0.999 s   99.9 %        0.999 s  app      |-a_func...length\n",
		" 0.001 s    0.1 %        0.001 s  app      `-seldom\n",
	};
	char *text = render_report(&result, report_top_down_print, 0,
				   (const char *const[]){"--width", "60", NULL});
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]), "%s", text);
	free(text);
	text = render_report(&result, report_top_down_print, 0,
			     (const char *const[]){"--min-percent", "0.2", NULL});
	ck_assert_msg(!strstr(text, "seldom") &&
			      strstr(text, "\n1 row below 0.2 % left out; --min-percent 0 shows "
					   "all\n"),
		      "%s", text);
	free(text);
}
END_TEST

START_TEST(test_bottom_up_csv)
{
	expect(report_bottom_up_print, 0,
	       (const char *const[]){"--format=csv", "--filter=module=libc.so.6", NULL},
	       "Function Stack,CPU Time,Module,Share Std Error\n"
	       "read,0.020000,libc.so.6,0.0000\n"
	       " main,0.020000,app,0.0000\n"
	       "  start,0.020000,libc.so.6,0.0000\n"
	       "   _start,0.020000,app,0.0000\n");
}
END_TEST

START_TEST(test_tree_limit)
{
	expect(report_top_down_print, 0, (const char *const[]){"--format=csv", "--limit=3", NULL},
	       "Function Stack,CPU Time:Self,Module,CPU Time:Total,Share Std Error\n"
	       "Total,0.000000,,0.080000,\n"
	       " _start,0.000000,app,0.060000,10.7501\n"
	       "  start,0.000000,libc.so.6,0.060000,10.7501\n");
	expect(report_bottom_up_print, 0, (const char *const[]){"--format=csv", "--limit=1", NULL},
	       "Function Stack,CPU Time,Module,Share Std Error\n"
	       "work,0.040000,app,16.1151\n");
}
END_TEST

START_TEST(test_threads_csv)
{
	expect(report_threads_print, TALLY_BY_THREAD, CSV,
	       "Thread,TID,Process,PID,CPU Time,Wait Time,Samples\n"
	       "app,100,app,100,0.045000,,5\n"
	       "worker,101,app,100,0.020000,,2\n"
	       "helper,102,helper,101,0.015000,,3\n");
}
END_TEST

START_TEST(test_modules_csv)
{
	expect(report_modules_print, 0, CSV,
	       "Module,Path,CPU Time,Samples,Share Std Error\n"
	       "app,/opt/app/app,0.040000,4,16.1151\n"
	       "libc.so.6,/usr/lib/x86_64-linux-gnu/libc.so.6,0.020000,2,14.8719\n"
	       "lib.so,/opt/app/lib.so,0.015000,3,10.5865\n"
	       "[No sample],,0.004000,0,\n"
	       "[Unknown],,0.001000,1,1.3055\n");
}
END_TEST

/* Every report must account for the same CPU time. */
START_TEST(test_sums_agree)
{
	static render_print *const prints[] = {report_hotspots_print, report_top_down_print,
					       report_threads_print, report_modules_print};
	for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		char *text = render_report(&example, prints[i], TALLY_BY_THREAD,
					   (const char *const[]){"--format", "json", NULL});
		struct json_object *rows = json_tokener_parse(text);
		double sum = 0;
		ck_assert_ptr_nonnull(rows);
		for (size_t row = 0; row < json_object_array_length(rows); row++) {
			struct json_object *cells = json_object_array_get_idx(rows, row);
			struct json_object *cpu;
			ck_assert(json_object_object_get_ex(cells, "cpu_time_s", &cpu) ||
				  json_object_object_get_ex(cells, "cpu_time_self_s", &cpu));
			sum += json_object_get_double(cpu);
		}
		ck_assert_double_eq_tol(sum, 0.080, 1e-9);
		json_object_put(rows);
		free(text);
	}
}
END_TEST

/* The keys of an object in order, each followed by a space. */
static void expect_keys(struct json_object *object, const char *expected)
{
	char keys[512] = "";
	json_object_object_foreach(object, key, value)
	{
		(void)value;
		strcat(keys, key);
		strcat(keys, " ");
	}
	ck_assert_str_eq(keys, expected);
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;
	ck_assert_msg(json_object_object_get_ex(object, key, &value), "%s", key);
	return value;
}

START_TEST(test_summary_json)
{
	char *text = render_report(&example, report_summary_print, 0,
				   (const char *const[]){"--format", "json", NULL});
	struct json_object *summary = json_tokener_parse(text);
	ck_assert_ptr_nonnull(summary);
	expect_keys(summary,
		    "elapsed_s cpu_time_s paused_s interval_s samples samples_lost stacks threads "
		    "processes modules collector target host complete records_lost bytes_lost "
		    "out_of_order kernel_time of_no_known_thread_s sampling in_no_sample_s "
		    "estimated_s ");
	expect_keys(member(summary, "kernel_time"), "where in_no_function_s ");
	ck_assert_ptr_null(member(member(summary, "kernel_time"), "where"));
	expect_keys(member(summary, "stacks"), "complete skipped guessed none ");
	expect_keys(member(member(summary, "stacks"), "skipped"),
		    "budget truncated not_resident no_info other_stack depth bad_info no_regs "
		    "no_memory red_zone ");
	expect_keys(member(summary, "collector"),
		    "cpu_s peak_rss_bytes file_bytes stack_copy_bytes ");
	expect_keys(member(summary, "target"), "command pid exit_status ");
	expect_keys(member(summary, "host"), "name os cpu logical_cpus ");
	ck_assert_double_eq(json_object_get_double(member(summary, "elapsed_s")), 2.0);
	ck_assert_double_eq(json_object_get_double(member(summary, "cpu_time_s")), 0.080);
	ck_assert_double_eq(json_object_get_double(member(summary, "paused_s")), 0.5);
	ck_assert_double_eq(json_object_get_double(member(summary, "interval_s")), 0.01);
	ck_assert_int_eq(json_object_get_int(member(summary, "samples")), 10);
	ck_assert_int_eq(json_object_get_int(member(summary, "samples_lost")), 3);
	ck_assert_int_eq(json_object_get_int(member(member(summary, "stacks"), "complete")), 7);
	ck_assert_int_eq(json_object_get_int(
				 member(member(member(summary, "stacks"), "skipped"), "truncated")),
			 3);
	ck_assert_int_eq(json_object_get_int(member(summary, "threads")), 3);
	ck_assert_int_eq(json_object_get_int(member(summary, "processes")), 2);
	ck_assert_int_eq(json_object_get_int(member(summary, "modules")), 5);
	ck_assert_int_eq(json_object_get_int(member(member(summary, "target"), "exit_status")), 3);
	ck_assert_str_eq(json_object_get_string(member(member(summary, "target"), "command")),
			 "app --fast \"a b\"");
	ck_assert(json_object_get_boolean(member(summary, "complete")));
	/* what this result does not say is null, not 0 */
	ck_assert_ptr_null(member(member(summary, "host"), "cpu"));
	json_object_put(summary);
	free(text);
}
END_TEST

/* Whatever was lost on the way is told, in each format. */
START_TEST(test_losses)
{
	static const struct build_sample sample = {.stack = "app:main", .cpu_ms = 1};
	static const struct build_result lossy = {.samples = &sample,
						  .count = 1,
						  .has_losses = true};
	static const char *const lines[] = {
		"Warning: 5 records other than samples lost: modules or threads may be missing\n",
		"Warning: 640 bytes of records could not be read: samples, modules",
		"Warning: 7 records arrived out of order",
	};
	char *text = render_report(&lossy, report_summary_print, 0, NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(text, lines[i]) != NULL, "%s", text);
	free(text);
	text = render_report(&lossy, report_summary_print, 0,
			     (const char *const[]){"--format", "csv", NULL});
	ck_assert_ptr_nonnull(strstr(text, "\nrecords_lost,5\nbytes_lost,640\nout_of_order,7\n"));
	free(text);
}
END_TEST

START_TEST(test_summary_text)
{
	char *text = render_report(&example, report_summary_print, 0, NULL);
	static const char *const parts[] = {
		"Elapsed Time:             2.000 s\n",
		"CPU Time:                 0.080 s (0.04 CPUs of 4)\n",
		"  in no sample:           0.004 s (5.0 %)\n",
		"Samples:                  10, one per 10 ms of CPU time; 3 lost (23.08 %)\n",
		"70.0 % complete, 30.0 % skipped",
		"30.0 % stack larger than the copy",
		"\nTop Hotspots\nCPU Time   CPU %     +-  Samples  Module     Source File  "
		"Function\n"
		" 0.040 s  50.0 %   16.1        4  app        app.c        work\n",
		" 0.004 s   5.0 %               0  [Unknown]               [No sample]\n"
		" 0.001 s   1.2 %  < 1.3        1  [Unknown]               [Unknown frame(s)]\n",
		"Command Line:             app --fast \"a b\"\n",
		"Exit Status:              3\n",
		"Computer Name:            box\n",
		"Operating System:         Testix\n",
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "%s is not in:\n%s", parts[i], text);
	free(text);
}
END_TEST

/* What belongs to no known thread is in the headline, and in JSON and CSV a figure of its own; what
 * would show as 0.000 s is not told. */
START_TEST(test_no_known_thread)
{
	static const struct build_sample sample = {.stack = "app:main", .count = 4, .cpu_ms = 10};
	static const struct build_result result = {.samples = &sample,
						   .count = 1,
						   .unattributed_ms = 1460};
	static const char *const parts[] = {
		"CPU Time:                 1.500 s",
		"\n  of no known thread:     1.460 s (97.3 %)\n",
		"\nTop Hotspots, of 0.040 s in known threads\n",
		" known\nProcesses, Modules:", /* of the threads */
	};
	char *text = render_report(&result, report_summary_print, 0, NULL);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]), "%s is not in:\n%s", parts[i], text);
	ck_assert_msg(!strstr(text, "in no sample"), "%s", text);
	free(text);
	text = render_report(&result, report_summary_print, 0, CSV);
	ck_assert_msg(strstr(text, "\ncpu_time_s,0.040000\n") &&
			      strstr(text, "\nof_no_known_thread_s,1.460000\n"),
		      "%s", text);
	free(text);
	text = render_report(&result, report_summary_print, 0,
			     (const char *const[]){"--format", "csv", "--filter", "process=app",
						   NULL});
	ck_assert_msg(strstr(text, "\nof_no_known_thread_s,0.000000\n"), "%s", text);
	free(text);
}
END_TEST

/* A filter holds for all of the summary, whatever it is about; what is lost is the run's. */
START_TEST(test_summary_filtered)
{
	static const char *const of_lib[] = {"--filter", "module=lib.so", NULL};
	static const char *const parts[] = {
		"CPU Time:                 0.015 s (0.01 CPUs of 4)\n",
		"Samples:                  3, one per 10 ms of CPU time; 3 lost\n",
		"0.0 % complete, 100.0 % skipped",
		"100.0 % stack larger than the copy",
	};
	char *text = render_report(&example, report_summary_print, TALLY_BY_REASON, of_lib);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "%s is not in:\n%s", parts[i], text);
	free(text);
	text = render_report(&example, report_summary_print, TALLY_BY_REASON,
			     (const char *const[]){"--filter", "function=other", NULL});
	ck_assert_ptr_nonnull(strstr(text, "CPU Time:                 0.000 s"));
	ck_assert_ptr_nonnull(strstr(text, "there are no samples that meet the filter"));
	free(text);
}
END_TEST

/* Lines wrap at words; a command line is cut, as it may be one word. */
START_TEST(test_summary_width)
{
	static const struct build_sample sample = {.stack = "app:main", .cpu_ms = 1};
	static const struct build_result lossy = {.samples = &sample,
						  .count = 1,
						  .is_finalized = true,
						  .has_losses = true};
	char *text = render_report(&lossy, report_summary_print, 0,
				   (const char *const[]){"--width", "40", NULL});
	static const char *const parts[] = {
		"\nWarning: 5 records other than samples\n         lost: modules or threads may "
		"be\n",
		"\nCommand Line:             app --...\"a b\"\n",
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]), "%s is not in:\n%s", parts[i], text);
	free(text);
	text = render_report(&lossy, report_summary_print, 0,
			     (const char *const[]){"--width", "60", NULL});
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= 60, "%s", line);
	free(text);
}
END_TEST

START_TEST(test_incomplete_result)
{
	struct build_result abandoned = {.samples = samples, .count = 4, .is_abandoned = true};
	char *text = render_report(&abandoned, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Warning: the result is incomplete"));
	free(text);
	text = render_report(&abandoned, report_summary_print, 0,
			     (const char *const[]){"--format", "json", NULL});
	ck_assert_ptr_nonnull(strstr(text, "\"complete\": false"));
	free(text);
}
END_TEST

START_TEST(test_empty_result)
{
	struct build_result empty = {0};
	char *text = render_report(&empty, report_hotspots_print, 0, CSV);
	ck_assert_str_eq(text, "Function,CPU Time,Samples,Module,Function (Full),Source File,Start "
			       "Address,Share Std Error\n");
	free(text);
	text = render_report(&empty, report_top_down_print, 0, CSV);
	ck_assert_str_eq(text,
			 "Function Stack,CPU Time:Self,Module,CPU Time:Total,Share Std Error\n"
			 "Total,0.000000,,0.000000,\n");
	free(text);
	text = render_report(&empty, report_threads_print, TALLY_BY_THREAD,
			     (const char *const[]){"--format", "json", NULL});
	struct json_object *rows = json_tokener_parse(text);
	ck_assert_int_eq(json_object_get_type(rows), json_type_array);
	ck_assert_uint_eq(json_object_array_length(rows), 0);
	json_object_put(rows);
	free(text);
	text = render_report(&empty, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Samples:                  0"));
	free(text);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("reports");
	TCase *reports = tcase_create("reports");
	tcase_set_timeout(reports, 60);
	tcase_add_test(reports, test_hotspots_csv);
	tcase_add_test(reports, test_hotspots_options);
	tcase_add_test(reports, test_hotspots_groups);
	tcase_add_test(reports, test_processes_of_one_name);
	tcase_add_loop_test(reports, test_filter_misses, 0,
			    (int)(sizeof(misses) / sizeof(misses[0])));
	tcase_add_test(reports, test_no_sample_threshold);
	tcase_add_test(reports, test_top_down_csv);
	tcase_add_test(reports, test_top_down_text);
	tcase_add_test(reports, test_bottom_up_csv);
	tcase_add_test(reports, test_tree_limit);
	tcase_add_test(reports, test_threads_csv);
	tcase_add_test(reports, test_modules_csv);
	tcase_add_test(reports, test_sums_agree);
	tcase_add_test(reports, test_summary_json);
	tcase_add_test(reports, test_summary_text);
	tcase_add_test(reports, test_no_known_thread);
	tcase_add_test(reports, test_summary_filtered);
	tcase_add_test(reports, test_losses);
	tcase_add_test(reports, test_summary_width);
	tcase_add_test(reports, test_incomplete_result);
	tcase_add_test(reports, test_empty_result);
	suite_add_tcase(suite, reports);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}
