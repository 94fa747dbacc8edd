/* What tbreport quality advises. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BY (TALLY_BY_THREAD | TALLY_BY_REASON)

static void expect_text(const struct build_result *result, const char *const *lines)
{
	render_expect(render_report(result, report_quality_print, BY, NULL), lines);
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
	{{.stack = "lib:a", GAP(PROFILE_SKIP_UNTOUCHED)},
	 0,
	 false,
	 "never touched: large local arrays, most of them of functions in lib.so"},
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

int main(void)
{
	Suite *suite = suite_create("advice");
	TCase *tcase = tcase_create("advice");
	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, advice, 0, (int)(sizeof(findings) / sizeof(findings[0])));
	tcase_add_loop_test(tcase, file_not_read, 0, sizeof(unread) / sizeof(unread[0]));
	tcase_add_loop_test(tcase, advice_on_cut_stacks, 0, (int)(sizeof(cuts) / sizeof(cuts[0])));
	tcase_add_test(tcase, advice_on_java);
	tcase_add_test(tcase, lost_samples);
	tcase_add_test(tcase, lost_samples_with_filter);
	tcase_add_test(tcase, not_finalized);
	tcase_add_test(tcase, empty);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
