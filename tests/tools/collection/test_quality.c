/* What tbreport quality says of stacks that are whole, and of those that are not. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BY (TALLY_BY_THREAD | TALLY_BY_REASON)

static const struct build_sample samples[] = {
	{.stack = "app:_start app:main app:work", .count = 90, .cpu_ms = 10},
	{.stack = "app:_start app:main^ lib:run^ jit:", .count = 4, .cpu_ms = 10},
	{.stack = "lib:run libc:read",
	 .count = 3,
	 .cpu_ms = 10,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_NO_INFO,
	 .thread = 1},
	{.stack = "app:main app:work",
	 .count = 2,
	 .cpu_ms = 10,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_TRUNCATED,
	 .thread = 1,
	 .collapsed = 1},
	{.stack = "app:main", .count = 1, .cpu_ms = 10, .state = PROFILE_STACK_NONE, .thread = 2},
};

static const struct build_result example = {.samples = samples,
					    .count = 5,
					    .is_finalized = true,
					    .has_unwinding = true};

#define HEADER                                                                                   \
	"Scope,Name,Path,PID,TID,Samples,Complete,Guessed,None,Skipped,Other,Budget,"            \
	"Truncated,Not Resident,No Info,Other Stack,Depth,Bad Info,No Registers,No Symbol,"      \
	"Steps,Frame Pointer Steps,Walks,Frames,Frames by Info,Frames by Pointer,"               \
	"Frames Reused,Rule Lookups,Timed Walks,Timed Frames,Timed ns,Guesses Tested,Guesses "   \
	"Covered,Guesses Wrong,Collector CPU,Advice,Out of Memory,Deep Walks,Deep Frames,"       \
	"Guesses by Agreement,Guess Verified Frames,Guess Hits,Guess Least Hits,Red Zone,Chain " \
	"Ends,CPU Time,CPU Time by Switches,Untouched,Late,Late Tested,Late Covered,Late Wrong\n"

/* Own code by its module, reasons by the module where the stack ends, steps by the module left. */
START_TEST(rows)
{
	static const char *const csv[] = {"--format", "csv", NULL};
	char *text = render_report(&example, report_quality_print, BY, csv);
	ck_assert_str_eq(
		text, HEADER
		"run,,,,,100,94,0,1,5,0,0,2,0,3,0,0,0,0,0,197,8,"
		"90,1000,700,210,500,25,2,40,800,20,10,1,0.012345,"
		"\"3.0 % of the stacks end in code without unwind information, most of them in "
		"/opt/app/lib.so. Install its debug symbols, or build it with "
		"-fasynchronous-unwind-tables.\",0,6,48,0,0,0,,0,0,,,0,0,0,0,0\n"
		"module,app,/opt/app/app,,,93,90,0,1,2,0,0,2,0,0,0,0,0,0,0,186,0,"
		"30,300,270,0,60,24,0,0,0,15,10,0,,,0,,,0,0,0,,0,0,,,0,0,0,0,0\n"
		"module,[jit],/nonexistent/perf-100.map,,,4,4,0,0,0,0,0,0,0,0,0,0,0,0,0,4,4,"
		",,,,,,,,,,,,,,0,,,0,0,0,,0,0,,,0,0,,,\n"
		"module,libc.so.6,/usr/lib/x86_64-linux-gnu/libc.so.6,,,3,0,0,0,3,0,0,0,0,0,"
		"0,0,0,0,0,3,0,,,,,,,,,,,,,,,0,,,0,0,0,,0,0,,,0,0,,,\n"
		"module,lib.so,/opt/app/lib.so,,,0,0,0,0,0,0,0,0,0,3,0,0,0,0,0,4,4,"
		",,,,,,,,,,,,,,0,,,0,0,0,,0,0,,,0,0,,,\n"
		"thread,app,,100,100,94,94,0,0,0,0,0,0,0,0,0,0,0,0,0,192,8,60,600,400,140,"
		"300,15,2,30,600,20,10,1,,,0,,,0,0,0,,0,0,,,0,0,12,11,0\n"
		"thread,worker,,100,101,5,0,0,0,5,0,0,2,0,3,0,0,0,0,0,5,0,,,,,,,,,,,,,,,0,,,"
		"0,0,0,,0,0,,,0,0,,,\n"
		"thread,helper,,101,102,1,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,0,,,"
		"0,0,0,,0,0,,,0,0,,,\n");
	free(text);
}
END_TEST

START_TEST(filters)
{
	static const char *const arguments[] = {"--format=csv",
						"--filter",
						"module=libc.so.6",
						"--call-stack-mode",
						"all",
						"--limit",
						"1",
						NULL};
	char *text = render_report(&example, report_quality_print, BY, arguments);
	ck_assert_ptr_nonnull(strstr(text, "\nrun,,,,,3,0,0,0,3,0,0,0,0,3,"));
	ck_assert_ptr_nonnull(strstr(text, "\nmodule,libc.so.6,"));
	ck_assert_ptr_nonnull(strstr(text, "\nthread,worker,,100,101,3,0,0,0,3,"));
	ck_assert_ptr_null(strstr(text, "\nmodule,lib.so,"));
	free(text);
}
END_TEST

/* What the run took says nothing of a part of it. */
START_TEST(filtered_cost)
{
	char *text = render_report(&example, report_quality_print, BY,
				   (const char *const[]){"--filter", "tid=100", NULL});
	ck_assert_ptr_null(strstr(text, "Collector CPU:"));
	ck_assert_ptr_nonnull(strstr(text, "Recursion Collapsed:      in 0 samples"));
	free(text);
	text = render_report(&example, report_quality_print, BY,
			     (const char *const[]){"--filter", "function=work", NULL});
	ck_assert_ptr_null(strstr(text, "Collector CPU:"));
	ck_assert_ptr_null(strstr(text, "Recursion Collapsed:"));
	free(text);
}
END_TEST

static void expect_text(const struct build_result *result, const char *const *lines)
{
	render_expect(render_report(result, report_quality_print, BY, NULL), lines);
}

START_TEST(figures)
{
	static const char *const lines[] = {
		"Stacks:                   94.00 % complete, 5.00 % skipped, 0.00 % guessed of 100",
		"  skipped:                2 (2.00 %) stack larger than the copy",
		"  skipped:                3 (3.00 %) no unwind",
		"Frames:                   1000, 11.1 per stack",
		"76.92 % unwind information, 23.08 % frame pointers",
		"  reused:                 50.0 %",
		"Rule Cache:               95.00 % hits",
		"Unwinding Time:           20 ns per frame, 400 ns per stack (2 were timed)",
		"Collector CPU:            123.5 us per sample, 12345 ns per frame",
		"Guesses:                  tested on 20 complete stacks: made for 50.0 %, 10.00 % "
		"wrong (1 of 10)\n",
		"Recursion Collapsed:      in 2 samples (2.0 %)",
		"\nSamples  Complete %  Skipped %  Truncated  No Info  No Symbol  Frame "
		"Pointer %  Guesses Tested  Wrong  Reused %  Cache Hits %  ns/Frame  Module\n",
		"\n     93      96.8 %      2.2 %          2        0          0            "
		"0.0 %              10      0    20.0 %        90.0 %            app\n",
		"\n      0                                 0        3          0          100.0 "
		"%                                                           lib.so\n",
		"  ns/Frame  TID  Thread\n",
		"4.2 %              10      1    50.0 %        95.0 %        20  100  app\n",
		NULL,
	};
	expect_text(&example, lines);
}
END_TEST

#define WHOLE                                                            \
	{                                                                \
		.stack = "app:_start app:main", .count = 90, .cpu_ms = 1 \
	}

/* Where guesses are shown, so is how often they are wrong. Steps to guessed frames are none. */
START_TEST(guesses)
{
	static const struct build_sample some[] = {
		WHOLE,
		{.stack = "app:_start~ app:main~ app:work app:leaf",
		 .count = 4,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED,
		 .reason = PROFILE_SKIP_TRUNCATED,
		 .guess_hits = 7},
		{.stack = "app:_start~ app:main~ app:work~ app:leaf",
		 .count = 5,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED,
		 .reason = PROFILE_SKIP_TRUNCATED,
		 .guess_hits = 3},
		{.stack = "app:_start~ app:leaf", /* of an older result */
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED,
		 .reason = PROFILE_SKIP_TRUNCATED},
	};
	static const struct build_result result = {.samples = some,
						   .count = 4,
						   .is_finalized = true,
						   .has_unwinding = true};
	static const char *const lines[] = {"10.00 % guessed of 100\n",
					    "  rest on:                1.4 verified frames per "
					    "stack, 4.8 complete stacks that "
					    "agree (3 at least, counted up to 255)\n",
					    "Samples  Complete %  Skipped %  Guessed %  No Symbol",
					    "\n    100      90.0 %      0.0 %     10.0 %", NULL};
	static const char *const csv[] = {"--format=csv", NULL};
	expect_text(&result, lines);
	char *text = render_report(&result, report_quality_print, BY, csv);
	ck_assert_ptr_nonnull(strstr(text, "\nrun,,,,,100,90,10,0,0,0,0,0,0,0,0,0,0,0,0,94,0,"));
	ck_assert_ptr_nonnull(strstr(text, ",0,6,48,9,13,43,3,0,0,,,0,0,0,0,0\n"));
	ck_assert_ptr_nonnull(strstr(text, ",0,,,9,13,43,3,0,0,,,0,0,0,0,0\nthread,"));
	free(text);
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(
		strstr(text, "  guesses:                tested on 20 complete stacks"));
	free(text);
}
END_TEST

/* Of a result with late frames and no guesses: their share, and how often they were wrong. */
START_TEST(late_frames)
{
	static const struct build_sample some[] = {
		WHOLE,
		{.stack = "app:_start~ app:main~ app:work app:leaf",
		 .count = 10,
		 .cpu_ms = 1,
		 .state = PROFILE_STACK_GUESSED,
		 .reason = PROFILE_SKIP_UNTOUCHED,
		 .is_late = true},
	};
	static const uint64_t tried[] = {40, 30, 1};
	static const struct build_result result = {.samples = some,
						   .count = 2,
						   .is_finalized = true,
						   .has_unwinding = true,
						   .has_run_record = true,
						   .late_tries = tried};
	static const char *const lines[] =
		{"10.00 % guessed of 100\n",
		 "Late Frames:              10.00 % of the stacks end in frames read later, tested "
		 "on 40 complete stacks: made for 75.0 %, 3.33 % wrong (1 of 30)\n",
		 NULL};
	static const char *const csv[] = {"--format=csv", NULL};
	expect_text(&result, lines);
	char *text = render_report(&result, report_quality_print, BY, NULL);
	ck_assert_ptr_null(strstr(text, "  rest on:"));
	free(text);
	text = render_report(&result, report_quality_print, BY, csv);
	ck_assert_ptr_nonnull(strstr(text, ",0,10,40,30,1\nmodule,"));
	free(text);
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "  late frames:            10.00 % of the stacks"));
	ck_assert_ptr_null(strstr(text, "  guesses:"));
	free(text);
}
END_TEST

static const struct {
	uint64_t tested;
	uint64_t covered;
	uint64_t wrong;
	const char *line;
} tries[] = {
	{0, 0, 0,
	 "Guesses:                  tested on no complete stack: how many are wrong is not known"},
	{8, 0, 0,
	 "tested on 8 complete stacks: made for 0.0 %, too few to tell how many are wrong (0 of "
	 "0)"},
	{8, 8, 0, "made for 100.0 %, too few to tell how many are wrong (0 of 8)"},
	{20, 9, 1, "made for 45.0 %, too few to tell how many are wrong (1 of 9)"},
	{20, 10, 0, "none of 10 wrong (with 95 % confidence, under 30.00 % are)\n"},
	{99, 99, 0, "none of 99 wrong (with 95 % confidence, under 3.03 % are)\n"},
	{4000, 3000, 0, "none of 3000 wrong (with 95 % confidence, under 0.10 % are)\n"},
	{4000, 3000, 3, "made for 75.0 %, 0.10 % wrong (3 of 3000)\n"},
};

/* What was seldom tried is not called right. */
START_TEST(tried_guesses)
{
	static const struct build_sample one = {.stack = "app:_start~ app:main",
						.cpu_ms = 1,
						.state = PROFILE_STACK_GUESSED,
						.reason = PROFILE_SKIP_TRUNCATED};
	const uint64_t counts[] = {tries[_i].tested, tries[_i].covered, tries[_i].wrong};
	const struct build_result result = {.samples = &one, .count = 1, .guess_tries = counts};
	const char *const lines[] = {tries[_i].line, NULL};
	expect_text(&result, lines);
	char *text = render_report(&result, report_quality_print, BY, NULL);
	ck_assert_ptr_null(strstr(text, " 0.00 % wrong"));
	free(text);
}
END_TEST

/* What only the end writes is not known. */
START_TEST(incomplete)
{
	static const struct build_result cut = {.samples = samples,
						.count = 5,
						.is_abandoned = true};
	char *text = render_report(&cut, report_quality_print, BY, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Stacks:"));
	ck_assert_ptr_null(strstr(text, "Rule Cache:"));
	ck_assert_ptr_null(strstr(text, "Collector CPU:"));
	free(text);
}
END_TEST

/* The run's sums are a record, or notes in older results. */
START_TEST(run_record)
{
	static const char *const formats[] = {"text", "csv", "json"};
	struct build_result noted = example;
	struct build_result recorded = example;
	recorded.has_run_record = true;
	for (size_t i = 0; i < 3; i++) {
		const char *const arguments[] = {"--format", formats[i], NULL};
		char *by_notes = render_report(&noted, report_quality_print, BY, arguments);
		char *by_record = render_report(&recorded, report_quality_print, BY, arguments);
		ck_assert_str_eq(by_record, by_notes);
		ck_assert_msg(i == 1 ? strstr(by_notes, ",1000,700,") != NULL : true, "%s",
			      by_notes);
		free(by_notes);
		free(by_record);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tbreport quality");
	TCase *tcase = tcase_create("quality");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, rows);
	tcase_add_test(tcase, filters);
	tcase_add_test(tcase, filtered_cost);
	tcase_add_test(tcase, figures);
	tcase_add_test(tcase, guesses);
	tcase_add_test(tcase, late_frames);
	tcase_add_loop_test(tcase, tried_guesses, 0, (int)(sizeof(tries) / sizeof(tries[0])));
	tcase_add_test(tcase, incomplete);
	tcase_add_test(tcase, run_record);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
