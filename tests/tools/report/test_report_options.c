/* The command line of tbreport. */
#include "tests/support/suite.h"
#include "tools/report/report_options.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"summary",  "hotspots",    "top-down", "bottom-up", "quality",
				    "waits",    "utilization", "timeline", "callers",   "source",
				    "assembly", "diff",        NULL};

static enum report_options_status parse(struct report_options *options, char **problem,
					const char *arguments)
{
	static char text[256];
	char *argv[32] = {(char *)(uintptr_t) "tbreport"};
	char *rest = NULL;
	int argc = 1;
	snprintf(text, sizeof(text), "%s", arguments);
	for (char *at = strtok_r(text, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
		argv[argc++] = at;
	return report_options_parse(argc, argv, names, options, problem);
}

START_TEST(test_options)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, ""), REPORT_OPTIONS_RUN);
	ck_assert_ptr_null(options.report);
	ck_assert_ptr_null(options.result);
	ck_assert_int_eq(options.format->id, TABLE_FORMAT_TEXT);
	ck_assert_int_eq(options.mode, CALL_PATH_USER_PLUS_ONE);
	ck_assert(options.with_inlined);
	ck_assert_int_eq(parse(&options, &problem, "r001hs"), REPORT_OPTIONS_RUN);
	ck_assert_ptr_null(options.report);
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem,
			       "--format json hotspots --limit 7 r001hs -o out --inline off "
			       "--filter pid=1 --filter module=a --call-stack-mode all "
			       "--width 132 --min-percent 0.25"),
			 REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_str_eq(options.output, "out");
	ck_assert_uint_eq(options.limit, 7);
	ck_assert_uint_eq(options.width, 132);
	ck_assert(options.has_least_share);
	ck_assert_uint_eq(options.least_share, 2500);
	ck_assert_uint_eq(options.filter.count, 2);
	ck_assert(!options.with_inlined);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "--format html -o page.html r001hs"),
			 REPORT_OPTIONS_RUN);
	ck_assert(options.is_page);
	ck_assert_str_eq(options.result, "r001hs");
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "hotspots --format html r001hs"),
			 REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "--format html: the page has all reports; leave out hotspots");
	free(problem);
	ck_assert_int_eq(parse(&options, &problem, "diff --format html a b"), REPORT_OPTIONS_RUN);
	ck_assert(options.is_page);
	ck_assert_uint_eq(options.run_count, 2);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "diff --format html a b c"), REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem,
			 "--format html: needs two sides; name those of the first with --base");
	free(problem);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "diff --format html --group-by module a b"),
			 REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "--format html: the page of diff has functions and stacks; leave "
				  "out --group-by");
	free(problem);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "--help"), REPORT_OPTIONS_HELP);
	ck_assert_int_eq(parse(&options, &problem, "--version"), REPORT_OPTIONS_VERSION);
}
END_TEST

/* A table's limit is one of its sorted rows, a tree's one of its heaviest. */
START_TEST(test_watch)
{
	static const char *const bad[] = {
		"--watch summary",    "--watch --format csv",      "--watch --format html",
		"--watch -o out.txt", "--watch diff a b",          "--watch quality r001hs",
		"-r r001hs r002hs",   "hotspots -r r001hs r002hs", "diff -r r001hs r002hs r003hs",
	};
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, "--watch -r r001hs"), REPORT_OPTIONS_RUN);
	ck_assert(options.with_watch);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem, "r001hs top-down --watch"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "top-down");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem, "summary --result-dir r001hs"),
			 REPORT_OPTIONS_RUN);
	ck_assert(!options.with_watch);
	ck_assert_str_eq(options.result, "r001hs");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse(&options, &problem, bad[i]) == REPORT_OPTIONS_BAD, "%s",
			      bad[i]);
		ck_assert_ptr_nonnull(problem);
		free(problem);
		report_options_finish(&options);
	}
}
END_TEST

START_TEST(test_sort)
{
	static const struct {
		const char *line, *column;
		bool is_directed, is_ascending;
		uint32_t limit, sort_limit;
	} good[] = {
		{"hotspots --sort Samples", "Samples", false, false, 0, 0},
		{"hotspots --sort CPU-Time:Self:asc --limit 3", "CPU-Time:Self", true, true, 0, 3},
		{"waits --sort x --sort Type:desc", "Type", true, false, 0, 0},
		{"waits --stacks --sort a:b --limit 3", "a:b", false, false, 3, 0},
		{"top-down --limit 3 --sort a", "a", false, false, 3, 0},
		{"diff a b --limit 3 --sort a", "a", false, false, 0, 3},
	};
	static const char *const bad[] = {"--sort Samples", "quality --sort Samples",
					  "hotspots --sort :asc", "hotspots --sort"};
	struct report_options options;
	char *problem;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, good[i].line), REPORT_OPTIONS_RUN);
		ck_assert_str_eq(options.sort.column, good[i].column);
		ck_assert(options.sort.is_directed == good[i].is_directed);
		ck_assert(options.sort.is_ascending == good[i].is_ascending);
		ck_assert_uint_eq(options.limit, good[i].limit);
		ck_assert_uint_eq(options.sort.limit, good[i].sort_limit);
		report_options_finish(&options);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, bad[i]), REPORT_OPTIONS_BAD);
		ck_assert_ptr_nonnull(strstr(problem, "--sort"));
		free(problem);
		report_options_finish(&options);
	}
}
END_TEST

/* A report and a result, in either order. */
START_TEST(test_subject)
{
	static const char *const good[] = {"callers work", "callers --limit 3 work r001hs",
					   "r001hs callers work"};
	struct report_options options;
	char *problem;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, good[i]), REPORT_OPTIONS_RUN);
		ck_assert_str_eq(options.report, "callers");
		ck_assert_uint_eq(options.subject.count, 1);
		ck_assert_str_eq(options.subject.conditions[0].value, "work");
		if (i > 0)
			ck_assert_str_eq(options.result, "r001hs");
		report_options_finish(&options);
	}
	ck_assert_int_eq(parse(&options, &problem, "callers"), REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem,
			 "callers: its function is missing; use tbreport callers FUNCTION");
	free(problem);
	ck_assert_int_eq(parse(&options, &problem, "callers work r001hs r002hs"),
			 REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "r002hs: one argument too many; name one result");
	free(problem);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "callers ~( r001hs"), REPORT_OPTIONS_BAD);
	ck_assert_ptr_nonnull(strstr(problem, "callers ~(: no POSIX extended regular expression"));
	free(problem);
}
END_TEST

START_TEST(test_diff)
{
	static const struct {
		const char *arguments;
		const char *problem;
	} bad[] = {
		{"diff", "diff: a result is missing; use tbreport diff BASE RESULT, or --base BASE "
			 "... RESULT ..."},
		{"diff r001hs", "diff: a result is missing; use tbreport diff BASE RESULT, or "
				"--base BASE ... RESULT ..."},
		{"diff a b c --fail-above 5",
		 "--fail-above: needs two sides; name those of the first with --base"},
		{"diff a b --fail-above x", "--fail-above x: no percentage; use 0 to 100"},
		{"hotspots a --base b",
		 "--base, --fail-above: only the report diff has them; use tbreport diff"},
		{"diff a b --group-by pid", "--group-by pid: not of this report; use tbreport "
					    "hotspots"},
	};
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, "diff a b --base c --fail-above 5% --base d"),
			 REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.run_count, 4);
	ck_assert_uint_eq(options.base_count, 2);
	ck_assert_str_eq(options.runs[0], "c");
	ck_assert_str_eq(options.runs[3], "b");
	ck_assert_uint_eq(options.fail_above, 50000);
	report_options_finish(&options);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, bad[i].arguments), REPORT_OPTIONS_BAD);
		ck_assert_str_eq(problem, bad[i].problem);
		free(problem);
		report_options_finish(&options);
	}
}
END_TEST

START_TEST(test_part_of_the_run)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, "hotspots --from 1.5s --to 3s"),
			 REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.filter.from_ns, 1500000000);
	ck_assert_uint_eq(options.filter.to_ns, 3000000000);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "hotspots --from 3s --to 1500ms"),
			 REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "--to 1500ms: no time is left; the end must lie behind the "
				  "beginning");
	free(problem);
}
END_TEST

START_TEST(test_argument_order)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, "r001hs hotspots"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem, "hotspots r001hs"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	/* a result that is named like a report */
	ck_assert_int_eq(parse(&options, &problem, "summary hotspots"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "summary");
	ck_assert_str_eq(options.result, "hotspots");
	ck_assert_int_eq(parse(&options, &problem, "r001hs r002hs hotspots"), REPORT_OPTIONS_BAD);
	free(problem);
}
END_TEST

START_TEST(test_bad_options)
{
	static const char *const bad[] = {
		"--nonsense",        "-x",
		"--format xml",      "--format",
		"--limit 0",         "--limit -1",
		"--limit x",         "--limit 99999999999",
		"--filter pid",      "--filter a=b",
		"--inline maybe",    "--call-stack-mode some",
		"--group-by colour", "nonsense r001hs",
		"hotspots a b",      "summary --group-by module",
		"--group-by module", "--width 0",
		"--width wide",      "--min-percent -1",
		"--min-percent 101", "--min-percent nan",
		"--min-percent 1x",  "hotspots --group-by waker",
		"--stacks",          "waits --group-by module",
		"hotspots --stacks",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct report_options options;
		char *problem = NULL;
		ck_assert_msg(parse(&options, &problem, bad[i]) == REPORT_OPTIONS_BAD, "%s",
			      bad[i]);
		/* what failed: why; what to do */
		ck_assert_ptr_nonnull(strchr(problem, ';'));
		free(problem);
		report_options_finish(&options);
	}
}
END_TEST

START_TEST(test_groups_of_waits)
{
	static const struct {
		const char *line;
		enum report_group group;
	} groups[] = {
		{"waits --group-by object", REPORT_GROUP_OBJECT},
		{"waits --group-by function --stacks", REPORT_GROUP_FUNCTION},
		{"waits --stacks --group-by thread", REPORT_GROUP_THREAD},
		{"waits --group-by waker", REPORT_GROUP_WAKER},
		{"waits --group-by type", REPORT_GROUP_TYPE},
	};
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct report_options options;
		char *problem = NULL;
		ck_assert_int_eq(parse(&options, &problem, groups[i].line), REPORT_OPTIONS_RUN);
		ck_assert_int_eq(options.group, groups[i].group);
		ck_assert(options.is_grouped);
		ck_assert(options.with_stacks == (strstr(groups[i].line, "--stacks") != NULL));
		report_options_finish(&options);
	}
}
END_TEST

START_TEST(test_states_options)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem,
			       "utilization --target-concurrency 1.5 --by threads"),
			 REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.target, 1500);
	ck_assert(options.by_threads);
	ck_assert_int_eq(parse(&options, &problem, "utilization --by cpus"), REPORT_OPTIONS_RUN);
	ck_assert(!options.by_threads);
	ck_assert_int_eq(parse(&options, &problem, "--target-concurrency 16"), REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.target, 16000);
	ck_assert_int_eq(parse(&options, &problem, "timeline --bucket 10ms"), REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.bucket_ns, 10000000);
	ck_assert_int_eq(parse(&options, &problem, "timeline --buckets 7"), REPORT_OPTIONS_RUN);
	ck_assert_uint_eq(options.buckets, 7);
}
END_TEST

START_TEST(test_bad_states_options)
{
	static const struct {
		const char *arguments;
		const char *problem;
	} bad[] = {
		{"utilization --target-concurrency 0",
		 "--target-concurrency 0: no number of logical CPUs; use e.g. 4 or 1.5"},
		{"utilization --target-concurrency nan",
		 "--target-concurrency nan: no number of logical CPUs; use e.g. 4 or 1.5"},
		{"utilization --target-concurrency 4x",
		 "--target-concurrency 4x: no number of logical CPUs; use e.g. 4 or 1.5"},
		{"top-down --target-concurrency 4",
		 "--target-concurrency: only summary, hotspots and utilization have it; use "
		 "tbreport utilization"},
		{"hotspots --by threads",
		 "--by: only the utilization report has it; use tbreport utilization"},
		{"timeline --bucket 0", "--bucket 0: no time; use e.g. 10ms or 1s"},
		{"timeline --buckets 0", "--buckets 0: not a number of buckets; use 1 or more"},
		{"--bucket 1ms", "--bucket, --buckets: only the timeline report has them; use "
				 "tbreport timeline"},
		{"timeline --bucket 1ms --buckets 3",
		 "--bucket and --buckets: one sets the other; use one of them"},
	};
	struct report_options options;
	char *problem;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, bad[i].arguments), REPORT_OPTIONS_BAD);
		ck_assert_str_eq(problem, bad[i].problem);
		free(problem);
	}
	ck_assert_int_eq(parse(&options, &problem, "utilization --by cpu"), REPORT_OPTIONS_BAD);
	free(problem);
}
END_TEST

/* Where it can leave no row out it is no option. */
START_TEST(test_least_share)
{
	static const char *const bad[] = {"--min-percent 1",
					  "--min-percent 0 r001hs",
					  "summary --min-percent 1",
					  "quality r001hs --min-percent 1",
					  "utilization --min-percent 1",
					  "timeline --min-percent 1",
					  "source work --min-percent 1",
					  "assembly work --min-percent 1"};
	struct report_options options;
	char *problem;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, bad[i]), REPORT_OPTIONS_BAD);
		ck_assert_msg(strstr(problem, "has rows of any share; use another report"),
			      "%s: %s", bad[i], problem);
		report_options_finish(&options);
		free(problem);
	}
	ck_assert_int_eq(parse(&options, &problem, "top-down --min-percent 1"), REPORT_OPTIONS_RUN);
	ck_assert_int_eq(parse(&options, &problem, "hotspots --min-percent 1"), REPORT_OPTIONS_RUN);
}
END_TEST

static const struct {
	const char *arguments;
	const char *problem; /* NULL: none, it may be a result's name */
} doubts[] = {
	{"hotspotz", "hotspotz: neither a report nor a result; did you mean hotspots?"},
	{"hotsptos", "hotsptos: neither a report nor a result; did you mean hotspots?"},
	{"topdown", "topdown: neither a report nor a result; did you mean top-down?"},
	{"bot", "bot: neither a report nor a result; did you mean bottom-up?"},
	{"functions", "functions: neither a report nor a result; see tbreport --help"},
	{"to", "to: neither a report nor a result; see tbreport --help"},
	{"tup-diwnn", "tup-diwnn: neither a report nor a result; see tbreport --help"},
	{"a-name-with-more-letters-than-any-that-is-compared",
	 "a-name-with-more-letters-than-any-that-is-compared: neither a report nor a result; see "
	 "tbreport --help"},
	{"old.tb5", NULL},
	{"results/hotspotz", NULL},
	{"hotspots hotspotz", NULL},
	{"", NULL},
};

START_TEST(test_doubts)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, doubts[_i].arguments), REPORT_OPTIONS_RUN);
	problem = report_options_doubt(&options, names);
	if (doubts[_i].problem)
		ck_assert_str_eq(problem, doubts[_i].problem);
	else
		ck_assert_ptr_null(problem);
	free(problem);
	ck_assert_int_eq(parse(&options, &problem, "hotspotz r001hs"), REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "hotspotz: no such report; did you mean hotspots?");
	free(problem);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_options);
	tcase_add_test(cases, test_subject);
	tcase_add_test(cases, test_diff);
	tcase_add_test(cases, test_part_of_the_run);
	tcase_add_test(cases, test_argument_order);
	tcase_add_test(cases, test_bad_options);
	tcase_add_test(cases, test_groups_of_waits);
	tcase_add_test(cases, test_watch);
	tcase_add_test(cases, test_sort);
	tcase_add_test(cases, test_states_options);
	tcase_add_test(cases, test_bad_states_options);
	tcase_add_test(cases, test_least_share);
	tcase_add_loop_test(cases, test_doubts, 0, (int)(sizeof(doubts) / sizeof(doubts[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
