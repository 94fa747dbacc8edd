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

#define HEADER                                                                                 \
	"Scope,Name,Path,PID,TID,Samples,Complete,Guessed,None,Skipped,Other,Budget,"          \
	"Truncated,Not Resident,No Info,Other Stack,Depth,Bad Info,No Registers,No Symbol,"    \
	"Steps,Frame Pointer Steps,Walks,Frames,Frames by Info,Frames by Pointer,"             \
	"Frames Reused,Rule Lookups,Timed Walks,Timed Frames,Timed ns,Guesses Tested,Guesses " \
	"Covered,Guesses Wrong,Collector CPU,Advice,Out of Memory,Deep Walks,Deep Frames,"     \
	"Guesses by Agreement,Guess Verified Frames,Guess Hits,Guess Least Hits,Red Zone\n"

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
		"-fasynchronous-unwind-tables.\",0,6,48,0,0,0,,0\n"
		"module,app,/opt/app/app,,,93,90,0,1,2,0,0,2,0,0,0,0,0,0,0,186,0,"
		"30,300,270,0,60,24,0,0,0,15,10,0,,,0,,,0,0,0,,0\n"
		"module,[jit],/nonexistent/perf-100.map,,,4,4,0,0,0,0,0,0,0,0,0,0,0,0,0,4,4,"
		",,,,,,,,,,,,,,0,,,0,0,0,,0\n"
		"module,libc.so.6,/usr/lib/x86_64-linux-gnu/libc.so.6,,,3,0,0,0,3,0,0,0,0,0,"
		"0,0,0,0,0,3,0,,,,,,,,,,,,,,,0,,,0,0,0,,0\n"
		"module,lib.so,/opt/app/lib.so,,,0,0,0,0,0,0,0,0,0,3,0,0,0,0,0,4,4,"
		",,,,,,,,,,,,,,0,,,0,0,0,,0\n"
		"thread,app,,100,100,94,94,0,0,0,0,0,0,0,0,0,0,0,0,0,192,8,60,600,400,140,"
		"300,15,2,30,600,20,10,1,,,0,,,0,0,0,,0\n"
		"thread,worker,,100,101,5,0,0,0,5,0,0,2,0,3,0,0,0,0,0,5,0,,,,,,,,,,,,,,,0,,,"
		"0,0,0,,0\n"
		"thread,helper,,101,102,1,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,0,,,"
		"0,0,0,,0\n");
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
	char *text = render_report(result, report_quality_print, BY, NULL);
	/* check has no room for all of it. */
	for (; *lines; lines++)
		ck_assert_msg(strstr(text, *lines), "'%s' is not in:\n%.3000s", *lines, text);
	free(text);
}

/* The advice has the one in it, and not the other. */
static void expect_advice(const struct build_result *result, const char *there, const char *never)
{
	char *text = render_report(result, report_quality_print, BY, NULL);
	char *advice = strstr(text, "\nAdvice:");
	ck_assert_ptr_nonnull(advice);
	advice[strcspn(advice + 1, "\n") + 1] = '\0';
	ck_assert_msg(strstr(advice, there) && !strstr(advice, never), "%s", advice);
	free(text);
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

#define GAP(why) .state = PROFILE_STACK_SKIPPED, .reason = (why)
#define WHOLE                                                            \
	{                                                                \
		.stack = "app:_start app:main", .count = 90, .cpu_ms = 1 \
	}

static const struct {
	struct build_sample gap;
	unsigned stack_size;
	bool is_unreadable;
	const char *advice;
} findings[] = {
	{{.stack = "app:a", GAP(PROFILE_SKIP_BUDGET)},
	 0,
	 false,
	 "10.0 % of the stacks were left "
	 "out"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_TRUNCATED)},
	 8192,
	 false,
	 "Use --stack-size 65528, or"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_TRUNCATED)},
	 65528,
	 false,
	 "larger than the kernel's copy of them. Let BPF"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_TRUNCATED)},
	 65208, /* the default at 10 ms */
	 false,
	 "larger than the kernel's copy of them. Let BPF"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_NO_MEMORY)}, 0, false, "ran out of memory"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_NOT_RESIDENT)},
	 0,
	 false,
	 "pages that are not in memory"},
	{{.stack = "lib:a", GAP(PROFILE_SKIP_NO_INFO)},
	 0,
	 false,
	 "/opt/app/lib.so. Install its "
	 "debug symbols"},
	{{.stack = "lib:a", GAP(PROFILE_SKIP_NO_INFO)},
	 0,
	 true,
	 "lib.so. The collector could not "
	 "read the file, or found another one in its place. "
	 "Run tbcollect as the owner"},
	{{.stack = "jit:", GAP(PROFILE_SKIP_NO_INFO)},
	 0,
	 false,
	 "[jit]. Let the compiler of this "
	 "code keep frame pointers"},
	{{.stack = "? lib:a", GAP(PROFILE_SKIP_NO_INFO)},
	 0,
	 false,
	 "most of them in [Unknown]. Let"},
	{{.stack = "lib:a app:a", GAP(PROFILE_SKIP_RED_ZONE)},
	 0,
	 false,
	 "most of them in lib.so. The kernel's"},
	{{.stack = "lib:a app:a", GAP(PROFILE_SKIP_OTHER_STACK)},
	 0,
	 false,
	 "most of them from lib.so."},
	{{.stack = "app:a", GAP(PROFILE_SKIP_DEPTH)}, 0, false, "deeper than"},
	{{.stack = "lib:a", GAP(PROFILE_SKIP_BAD_INFO)},
	 0,
	 false,
	 "most of them in lib.so. Look for a newer"},
	{{.stack = "", GAP(PROFILE_SKIP_NO_REGS)}, 0, false, "without user registers"},
	{{.stack = "app:a", GAP(PROFILE_SKIP_NOT_SKIPPED)}, 0, false, "does not know"},
	{{.stack = "app:_start lib:"}, 0, false, "in functions without a symbol, most in lib.so"},
	{{.stack = "app:_start jit:"}, 0, false, "were lost"},
};

START_TEST(advice)
{
	struct build_sample with_gap[] = {WHOLE, findings[_i].gap};
	struct build_result result = {.samples = with_gap,
				      .count = 2,
				      .is_finalized = true,
				      .is_unreadable = findings[_i].is_unreadable,
				      .stack_size = findings[_i].stack_size};
	const char *const lines[] = {"\nAdvice:                   ", findings[_i].advice, NULL};
	with_gap[1].count = 10;
	expect_text(&result, lines);
}
END_TEST

/* What is advised for stacks that are cut depends on what was done. */
static const struct {
	enum profile_skip_reason reason;
	unsigned stack_size;
	unsigned interval_ns;
	unsigned left_out; /* to keep the cost down */
	bool is_bpf;
	const char *advice;
	const char *never; /* in it */
} cuts[] = {
	{PROFILE_SKIP_TRUNCATED, 8192, 1000000, 0, false, "Use --stack-size 65528, or let BPF",
	 "longer"},
	{PROFILE_SKIP_TRUNCATED, 8192, 999999, 0, false, "Use a longer --interval, or let BPF",
	 "--stack-size"},
	{PROFILE_SKIP_TRUNCATED, 65528, 999999, 0, false, "Use a longer --interval, or let BPF",
	 "--stack-size"},
	{PROFILE_SKIP_TRUNCATED, 8192, 1000000, 5, false, "Use a longer --interval, or let BPF",
	 "--stack-size"},
	{PROFILE_SKIP_TRUNCATED, 8192, 999999, 0, true,
	 "up to 512 KB, and less at short intervals. Use a longer --interval", "as root"},
	{PROFILE_SKIP_TRUNCATED, 65208, 0, 0, true,
	 "up to 512 KB, and less at short intervals. Use a longer --interval", "as root"},
	{PROFILE_SKIP_NOT_RESIDENT, 65208, 0, 0, false, "BPF copies the pages behind it", "cannot"},
	{PROFILE_SKIP_NOT_RESIDENT, 65208, 0, 0, true, "BPF cannot copy them either", "as root"},
};

START_TEST(advice_on_cut_stacks)
{
	struct build_sample taken[] = {WHOLE,
				       {.stack = "app:a", .count = 10, GAP(cuts[_i].reason)},
				       {.stack = "app:a",
					.count = cuts[_i].left_out,
					GAP(PROFILE_SKIP_BUDGET)}};
	struct build_result result = {.samples = taken,
				      .count = cuts[_i].left_out > 0 ? 3 : 2,
				      .is_finalized = true,
				      .stack_size = cuts[_i].stack_size,
				      .interval_ns = cuts[_i].interval_ns,
				      .is_bpf = cuts[_i].is_bpf};
	expect_advice(&result, cuts[_i].advice, cuts[_i].never);
}
END_TEST

/* Java's option is advised to nobody else. */
START_TEST(advice_on_java)
{
	struct build_sample taken[] = {WHOLE,
				       {.stack = "jit:", .count = 10, GAP(PROFILE_SKIP_NO_INFO)}};
	struct build_result result = {.samples = taken, .count = 2, .is_finalized = true};
	expect_advice(&result, "[jit]. Let the compiler of this code keep frame pointers", "java");
	result.app_path = "/usr/lib/jvm/lib/server/libjvm.so";
	expect_advice(&result,
		      "[jit]. Let the Java compiler keep frame pointers (java "
		      "-XX:+PreserveFramePointer)",
		      "this code");
}
END_TEST

static const struct {
	uint32_t flag;
	const char *text;
} unread[] = {
	{PROFILE_IMAGE_NO_DESCRIPTOR,
	 "lib.so. The collector had too many open files to read it. Raise the limit (ulimit -n)."},
	{PROFILE_IMAGE_CHANGED, "lib.so. The file was changed after the program mapped it"},
	{0, "lib.so. The collector could not read the file, or found another one"},
	{PROFILE_IMAGE_GONE, "lib.so. The file was gone before the collector could read it"},
};

/* Loop: why the file could not be read. */
START_TEST(file_not_read)
{
	struct build_sample with_gap[] = {WHOLE,
					  {.stack = "lib:a",
					   .count = 10,
					   GAP(PROFILE_SKIP_NO_INFO)}};
	struct build_result result = {.samples = with_gap,
				      .count = 2,
				      .is_finalized = true,
				      .is_unreadable = true,
				      .unread = unread[_i].flag};
	const char *const lines[] = {unread[_i].text, NULL};
	expect_text(&result, lines);
}
END_TEST

/* The builder notes 3 lost samples; code of a compiler at run time has no symbols to install. */
START_TEST(lost_samples)
{
	static const struct build_sample whole[] = {WHOLE};
	static const struct build_result result = {.samples = whole,
						   .count = 1,
						   .is_finalized = true};
	static const char *const lines[] = {"3 samples (3.2 %) were lost: use a longer", NULL};
	expect_text(&result, lines);
}
END_TEST

/* They are of the whole run, and no share of what a filter leaves. */
START_TEST(lost_samples_with_filter)
{
	static const struct build_sample taken[] = {WHOLE,
						    {.stack = "app:main",
						     .cpu_ms = 1,
						     .thread = 1}};
	static const struct build_result result = {.samples = taken,
						   .count = 2,
						   .is_finalized = true};
	char *text = render_report(&result, report_quality_print, BY,
				   (const char *const[]){"--filter", "tid=101", NULL});
	ck_assert_ptr_nonnull(strstr(text, "nothing to do"));
	free(text);
}
END_TEST

START_TEST(not_finalized)
{
	static const struct build_sample whole[] = {WHOLE};
	static const struct build_result result = {.samples = whole, .count = 1};
	static const char *const lines[] = {"no symbols yet: run tbconvert finalize", NULL};
	expect_text(&result, lines);
}
END_TEST

START_TEST(empty)
{
	static const struct build_result none = {0};
	static const char *const lines[] = {"Advice:                   there are no samples", NULL};
	expect_text(&none, lines);
}
END_TEST

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
	ck_assert_ptr_nonnull(strstr(text, ",0,6,48,9,13,43,3,0\n"));
	ck_assert_ptr_nonnull(strstr(text, ",0,,,9,13,43,3,0\nthread,"));
	free(text);
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(
		strstr(text, "  guesses:                tested on 20 complete stacks"));
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
	tcase_add_loop_test(tcase, advice, 0, (int)(sizeof(findings) / sizeof(findings[0])));
	tcase_add_loop_test(tcase, file_not_read, 0, sizeof(unread) / sizeof(unread[0]));
	tcase_add_loop_test(tcase, advice_on_cut_stacks, 0, (int)(sizeof(cuts) / sizeof(cuts[0])));
	tcase_add_test(tcase, advice_on_java);
	tcase_add_test(tcase, lost_samples);
	tcase_add_test(tcase, lost_samples_with_filter);
	tcase_add_test(tcase, not_finalized);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, guesses);
	tcase_add_loop_test(tcase, tried_guesses, 0, (int)(sizeof(tries) / sizeof(tries[0])));
	tcase_add_test(tcase, incomplete);
	tcase_add_test(tcase, run_record);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
