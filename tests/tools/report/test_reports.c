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

#define CSV ((const char *const[]){"--format", "csv", NULL})

static void expect(render_print *print, unsigned tally_by, const char *const *arguments,
		   const char *expected)
{
	char *text = render_report(&render_example, print, tally_by, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_hotspots_csv)
{
	expect(report_hotspots_print, 0, CSV,
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error,CPU Time:Total\n"
	       "work,0.040000,4,app,work(int),app.c,0x1030,16.1151,0.040000\n"
	       "read,0.020000,2,libc.so.6,read(int),app.c,0x1030,14.8719,0.020000\n"
	       "\"run,\"\"fast\"\"\",0.015000,3,lib.so,\"run,\"\"fast\"\"(int)\",app.c,0x1010,10."
	       "5865,0.015000\n"
	       "[No sample],0.004000,0,[Unknown],[No sample],,,,0.004000\n"
	       "[Unknown frame(s)],0.001000,1,[Unknown],[Unknown frame(s)],,,1.3055,0.001000\n");
}
END_TEST

START_TEST(test_hotspots_options)
{
	expect(report_hotspots_print, 0,
	       (const char *const[]){"--format=csv", "--limit", "1", "--call-stack-mode", "all",
				     "--filter", "module=libc.so.6", NULL},
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error,CPU Time:Total\n"
	       "lock,0.020000,2,libc.so.6,lock(int),app.c,0x1040,15.6546,0.020000\n");
	expect(report_hotspots_print, 0,
	       (const char *const[]){"--format=csv", "--call-stack-mode", "user-only", "--filter",
				     "function=main", NULL},
	       "Function,CPU Time,Samples,Module,Function (Full),Source File,Start Address"
	       ",Share Std Error,CPU Time:Total\n"
	       "main,0.020000,2,app,main(int),app.c,0x1020,15.6546,0.020000\n");
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
	       "Source File,CPU Time,Samples,Share Std Error,CPU Time:Total\n"
	       "app.c,0.075000,9,1.3055,0.075000\n"
	       "[No sample],0.004000,0,,0.004000\n"
	       "[Unknown],0.001000,1,1.3055,0.016000\n");
}
END_TEST

/* Processes of one name are one row by name, and one each by number, with what tells them apart. */
START_TEST(test_processes_of_one_name)
{
	static const struct build_result twins = {.samples = render_example_samples,
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

static TBRW_U32 explain_miss(const struct report_input *input, FILE *stream, unsigned width)
{
	(void)stream;
	(void)width;
	missed = report_explain_miss(input);
	return VT_SUCCESS;
}

START_TEST(test_filter_misses)
{
	const char *arguments[5] = {NULL};
	for (size_t i = 0; i < 2 && misses[_i].filters[i]; i++) {
		arguments[2 * i] = "--filter";
		arguments[2 * i + 1] = misses[_i].filters[i];
	}
	free(render_report(&render_example, explain_miss, 0, arguments));
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
	       "Module,Path,CPU Time,Samples,Share Std Error,CPU Time:Total\n"
	       "app,/opt/app/app,0.040000,4,16.1151,0.060000\n"
	       "libc.so.6,/usr/lib/x86_64-linux-gnu/libc.so.6,0.020000,2,14.8719,0.060000\n"
	       "lib.so,/opt/app/lib.so,0.015000,3,10.5865,0.015000\n"
	       "[No sample],,0.004000,0,,0.004000\n"
	       "[Unknown],,0.001000,1,1.3055,0.016000\n");
}
END_TEST

/* Every report must account for the same CPU time. */
START_TEST(test_sums_agree)
{
	static render_print *const prints[] = {report_hotspots_print, report_top_down_print,
					       report_threads_print, report_modules_print};
	for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		char *text = render_report(&render_example, prints[i], TALLY_BY_THREAD,
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

START_TEST(test_empty_result)
{
	struct build_result empty = {0};
	char *text = render_report(&empty, report_hotspots_print, 0, CSV);
	ck_assert_str_eq(text, "Function,CPU Time,Samples,Module,Function (Full),Source File,Start "
			       "Address,Share Std Error,CPU Time:Total\n");
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
	tcase_add_test(reports, test_empty_result);
	suite_add_tcase(suite, reports);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}
