/* Results whose samples are of an event that is no clock: numbers of it, in reports and exports. */
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* 40,000,000 faults, 20,000,000, 15,000,000 and 1,000,000. */
static const struct build_result faults = {.samples = render_example_samples,
					   .count = RENDER_EXAMPLE_SAMPLES,
					   .event = "page,faults",
					   .is_finalized = true};

static void expect(render_print *print, const char *format, const char *const *parts)
{
	render_expect(render_report(&faults, print, TALLY_BY_THREAD,
				    (const char *const[]){"--format", format, NULL}),
		      parts);
}

START_TEST(test_tables)
{
	expect(report_hotspots_print, "csv",
	       (const char *const[]){"Function,\"page,faults\",Samples,Module,", "work,40000000,4,",
				     NULL});
	expect(report_hotspots_print, "text",
	       (const char *const[]){"page,faults   Share     +-     Total", "   40000000  52.6 %",
				     NULL});
	expect(report_hotspots_print, "json",
	       (const char *const[]){"\"event_count\":40000000,\"event_share\":0.526316", NULL});
	expect(report_top_down_print, "csv",
	       (const char *const
			[]){"Function Stack,\"page,faults:Self\",Module,\"page,faults:Total\",",
			    "Total,0,,76000000", NULL});
	expect(report_top_down_print, "json",
	       (const char *const[]){"\"event_count_total\":76000000", "\"event_count_self\":0",
				     NULL});
	/* Waits are times, whatever the event. */
	expect(report_threads_print, "csv",
	       (const char *const[]){"PID,\"page,faults\",Wait Time,Samples\n", NULL});
}
END_TEST

/* Columns are sorted by under the names they have. */
START_TEST(test_sort)
{
	char *text = render_report(&faults, report_hotspots_print, 0,
				   (const char *const[]){"--format", "csv", "--limit", "1",
							 "--sort", "page,faults:Total", NULL});
	ck_assert_msg(strstr(text, "\n_start,0,0,app,_start(int),app.c,0x1010,,60000000\n") != NULL,
		      "%s", text);
	free(text);
}
END_TEST

START_TEST(test_summary)
{
	char *text = render_report(&faults, report_summary_print, 0, NULL);
	ck_assert_ptr_null(strstr(text, "CPU Time:"));
	ck_assert_ptr_null(strstr(text, "ms of CPU time"));
	ck_assert_ptr_null(strstr(text, "Advice:"));
	render_expect(text, (const char *const[]){"page,faults:              76000000\n",
						  "\nEvent:                    page,faults\n",
						  "page,faults   Share ", NULL});
	expect(report_summary_print, "json",
	       (const char *const[]){"\"cpu_time_s\": null", "\"name\": \"page,faults\"",
				     "\"count\": 76000000", NULL});
}
END_TEST

START_TEST(test_exports)
{
	size_t size;
	build_result_write(build_path, &faults);
	render_expect(known_export(build_path, "callgrind", false, &size),
		      (const char *const[]){"event: Count : page,faults\n",
					    "events: Count Samples\n", "totals: 76000000 10\n",
					    NULL});
	render_expect(known_export(build_path, "speedscope", false, &size),
		      (const char *const[]){"\"unit\":\"none\"", NULL});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("results of events");
	TCase *tcase = tcase_create("event");

	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_test(tcase, test_tables);
	tcase_add_test(tcase, test_sort);
	tcase_add_test(tcase, test_summary);
	tcase_add_test(tcase, test_exports);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
