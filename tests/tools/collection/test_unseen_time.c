/* What the summary and quality say where the samples show little or nothing. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BY (TALLY_BY_THREAD | TALLY_BY_REASON)

#define NONE(...)                                                      \
	{                                                              \
		.is_lossless = true, .is_finalized = true, __VA_ARGS__ \
	}
#define SLOW(...)                                                                       \
	{                                                                               \
		.samples = slow, .count = 1, .is_finalized = true, .is_lossless = true, \
		__VA_ARGS__                                                             \
	}

/* 1 s in 10 samples of 10 ms; a thread may have 10 ms on each of 4 CPUs besides. */
static const struct build_sample slow[] = {{.stack = "app:main", .count = 10, .cpu_ms = 100}};
static const struct build_sample spread[] = {
	{.stack = "app:main", .cpu_ms = 10, .thread = 0},
	{.stack = "app:main", .cpu_ms = 10, .thread = 1},
	{.stack = "app:main", .cpu_ms = 10, .thread = 2},
	{.stack = "app:main", .cpu_ms = 10, .thread = 3},
};
static const struct build_sample brief[] = {{.stack = "app:main", .count = 1, .cpu_ms = 140}};

/* 100 ms of 1 s, and of 1.01 s, in the kernel. */
static const struct build_sample tenth[] = {
	{.stack = "app:main", .count = 90, .cpu_ms = 10},
	{.stack = "app:main", .count = 1, .cpu_ms = 100, .kernel_ms = 100},
};
static const struct build_sample below_tenth[] = {
	{.stack = "app:main", .count = 91, .cpu_ms = 10},
	{.stack = "app:main", .count = 1, .cpu_ms = 100, .kernel_ms = 100},
};
/* Most of it, and too short to tell. */
static const struct build_sample short_calls[] = {
	{.stack = "app:main", .count = 1, .cpu_ms = 100, .kernel_ms = 90},
};

#define APART(...)                                                    \
	{                                                             \
		.is_finalized = true, .is_lossless = true,            \
		.kernel_time = PROFILE_KERNEL_TIME_APART, __VA_ARGS__ \
	}

static const char kernel_advice[] =
	"went to system calls and faults, where no samples were taken: run tbcollect as root, "
	"with CAP_PERFMON, or with kernel.perf_event_paranoid=1, which shows the calls (--kernel: "
	"the kernel's functions too)\n";

static const struct {
	struct build_result result;
	const char *advice; /* NULL: none about the sampling */
} samplings[] = {
	{NONE(.rest_ms = 3),
	 "there are no samples: 3.000 ms of CPU time were used, and a sample is taken after each "
	 "10 ms of a thread's: use a shorter --interval (0.1ms is the shortest), or collect for "
	 "longer\n"},
	{NONE(0), "there are no samples, as no CPU time was used: collect while the program works"},
	{NONE(.rest_ms = 3, .is_not_followed = true),
	 "there are no samples: the kernel did not let the program be followed: attach to it as "
	 "root (tbcollect -p)\n"},
	{{.rest_ms = 3},
	 "there are no samples, 3 were lost: use a longer --interval or a smaller --stack-size\n"},
	{NONE(.rest_ms = 1000), kernel_advice},
	{NONE(.rest_ms = 3, .unattributed_ms = 1000), kernel_advice},
	{SLOW(0),
	 "Advice:                   at most 14 % of the CPU time was user code's; the rest "},
	{SLOW(0), kernel_advice},
	{SLOW(.rusage_ms = 1000), kernel_advice},
	/* the samples' own counts have the time that a hypervisor took away */
	{SLOW(.rusage_ms = 200), NULL},
	{SLOW(.has_kernel = true), NULL},
	{SLOW(.throttled = 1), NULL},
	{SLOW(.kernel_time = PROFILE_KERNEL_TIME_AT_CALLS), NULL},
	{SLOW(.kernel_time = PROFILE_KERNEL_TIME_APART), kernel_advice},
	{APART(.samples = tenth, .count = 2),
	 "Advice:                   at most 90 % of the CPU time was user code's; the rest "},
	{APART(.samples = tenth, .count = 2), kernel_advice},
	{APART(.samples = below_tenth, .count = 2), NULL},
	{APART(.samples = short_calls, .count = 1), NULL},
	/* too little to tell, and what user code may have left */
	{{.samples = brief, .count = 1, .is_finalized = true, .is_lossless = true}, NULL},
	{{.samples = spread,
	  .count = 4,
	  .is_finalized = true,
	  .is_lossless = true,
	  .unattributed_ms = 150},
	 NULL},
};

/* Both reports say when the samples cannot show much, and why. */
START_TEST(sampling)
{
	render_print *const prints[] = {report_quality_print, report_summary_print};
	for (size_t i = 0; i < 2; i++) {
		char *text = render_report(&samplings[_i].result, prints[i], BY, NULL);
		if (samplings[_i].advice)
			ck_assert_msg(strstr(text, samplings[_i].advice), "no '%s' in:\n%.3000s",
				      samplings[_i].advice, text);
		else
			ck_assert_msg(!strstr(text, "--kernel"), "%.3000s", text);
		free(text);
	}
}
END_TEST

/* Of a part of the run not all of the time is known, but what is apart is known by thread. */
START_TEST(filtered_sampling)
{
	static const struct build_result result = SLOW(0);
	static const char *const of_main[] = {"--filter", "thread=app", NULL};
	static const char *const of_none[] = {"--filter", "thread=other", NULL};
	static const struct build_result apart = APART(.samples = tenth, .count = 2);
	render_print *const prints[] = {report_quality_print, report_summary_print};
	for (size_t i = 0; i < 2; i++) {
		char *text = render_report(&apart, prints[i], BY, of_main);
		ck_assert_ptr_nonnull(strstr(text, kernel_advice));
		free(text);
		text = render_report(&result, prints[i], BY, of_main);
		ck_assert_ptr_null(strstr(text, "--kernel"));
		free(text);
		text = render_report(&result, prints[i], BY, of_none);
		ck_assert_ptr_nonnull(strstr(text, "there are no samples that meet the filter"));
		free(text);
	}
}
END_TEST

/* A share needs a whole that is more than what a collection costs by itself, and is its whole. */
START_TEST(cost)
{
	static const struct build_sample little[] = {{.stack = "app:main", .cpu_ms = 99}};
	static const struct build_sample enough[] = {{.stack = "app:main", .cpu_ms = 100}};
	struct build_result result = {.samples = little, .count = 1};
	char *text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Collector Cost:           0.012 s of CPU time, peak"));
	free(text);
	result.samples = enough;
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "0.012 s of CPU time (12.35 % of the target's), peak"));
	ck_assert_ptr_nonnull(strstr(text, " bytes per sample)"));
	free(text);
	result.unattributed_ms = 23;
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "0.012 s of CPU time (10.04 % of the target's), peak"));
	free(text);
	text = render_report(&result, report_summary_print, 0,
			     (const char *const[]){"--filter", "tid=100", NULL});
	ck_assert_ptr_nonnull(strstr(text, "Collector Cost:           0.012 s of CPU time, peak"));
	ck_assert_ptr_null(strstr(text, " bytes per sample)"));
	free(text);
	result = (struct build_result){.rest_ms = 200, .is_lossless = true};
	text = render_report(&result, report_summary_print, 0, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Collector Cost:           0.012 s of CPU time, peak"));
	ck_assert_ptr_null(strstr(text, "% complete"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tbreport sampling");
	TCase *tcase = tcase_create("sampling");

	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, sampling, 0, (int)(sizeof(samplings) / sizeof(samplings[0])));
	tcase_add_test(tcase, filtered_sampling);
	tcase_add_test(tcase, cost);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
