/* What tbreport summary says. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include "tests/tools/waited_result.h"
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define CSV ((const char *const[]){"--format", "csv", NULL})

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
	char *text = render_report(&render_example, report_summary_print, 0,
				   (const char *const[]){"--format", "json", NULL});
	struct json_object *summary = json_tokener_parse(text);
	ck_assert_ptr_nonnull(summary);
	expect_keys(summary,
		    "elapsed_s cpu_time_s paused_s interval_s samples samples_lost stacks threads "
		    "processes modules collector target host complete records_lost bytes_lost "
		    "out_of_order kernel_time of_no_known_thread_s sampling in_no_sample_s "
		    "estimated_s custom_collector stolen_s event ");
	expect_keys(member(summary, "event"), "name count ");
	expect_keys(member(summary, "custom_collector"), "command failed_steps ");
	expect_keys(member(summary, "kernel_time"), "where in_no_function_s ");
	ck_assert_ptr_null(member(member(summary, "kernel_time"), "where"));
	expect_keys(member(summary, "stacks"), "complete skipped guessed none ");
	expect_keys(member(member(summary, "stacks"), "skipped"),
		    "budget truncated not_resident no_info other_stack depth bad_info no_regs "
		    "no_memory red_zone chain_ends untouched ");
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
	char *text = render_report(&render_example, report_summary_print, 0, NULL);
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
						   .unattributed_ms = 1460,
						   .stolen_ms = 15};
	static const char *const parts[] = {
		"CPU Time:                 1.500 s",
		"\n  of no known thread:     1.460 s (97.3 %)\n",
		"\n  stolen by the host:     0.015 s (1.0 %)\n",
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
			      strstr(text, "\nof_no_known_thread_s,1.460000\n") &&
			      strstr(text, "\nstolen_s,0.015000\n"),
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
	char *text = render_report(&render_example, report_summary_print, TALLY_BY_REASON, of_lib);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "%s is not in:\n%s", parts[i], text);
	free(text);
	text = render_report(&render_example, report_summary_print, TALLY_BY_REASON,
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
	struct build_result abandoned = {.samples = render_example_samples,
					 .count = 4,
					 .is_abandoned = true};
	char *text = render_report(&abandoned, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Warning: the result is incomplete"));
	free(text);
	text = render_report(&abandoned, report_summary_print, 0,
			     (const char *const[]){"--format", "json", NULL});
	ck_assert_ptr_nonnull(strstr(text, "\"complete\": false"));
	free(text);
}
END_TEST

/* The objects that threads waited for longest, as the report waits has them, without short waits.
 */
START_TEST(test_waiting_objects)
{
	static const char title[] = "\nTop Waiting Objects\n";
	static const char *const rows[] = {
		"Wait Time  Wait %  Wait Count  Sync Object\n",
		"  1.000 s  42.6 %           1  Sleep\n",
		"  0.700 s  29.8 %           2  Mutex queue_lock+0x4\n",
		"  0.600 s  25.5 %           1  Condition Variable 0x7f00000012a0\n",
		"\nCollection and Platform Info\n",
	};
	char *text = render_report(&waited_result, report_summary_print, TALLY_BY_THREAD, NULL);
	const char *at = strstr(text, title);
	ck_assert_msg(at != NULL, "%s", text);
	at += strlen(title);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); at += strlen(rows[i++]))
		ck_assert_msg(strncmp(at, rows[i], strlen(rows[i])) == 0, "%s is not in:\n%s",
			      rows[i], text);
	free(text);
	text = render_report(&waited_result, report_summary_print, TALLY_BY_THREAD,
			     (const char *const[]){"--limit", "1", NULL});
	ck_assert_ptr_nonnull(strstr(text, "  Sleep\n\nCollection"));
	free(text);
	text = render_report(&render_example, report_summary_print, 0, NULL);
	ck_assert_ptr_null(strstr(text, title));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tbreport summary");
	TCase *tcase = tcase_create("summary");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_summary_json);
	tcase_add_test(tcase, test_summary_text);
	tcase_add_test(tcase, test_no_known_thread);
	tcase_add_test(tcase, test_summary_filtered);
	tcase_add_test(tcase, test_losses);
	tcase_add_test(tcase, test_summary_width);
	tcase_add_test(tcase, test_incomplete_result);
	tcase_add_test(tcase, test_waiting_objects);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
