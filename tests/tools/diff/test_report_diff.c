/* The report diff of results with known content. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/diff/report_diff.h"
#include "tools/report/report_options.h"
#include "tools/table/table_format.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFF_OPTIONS_MAX = 24 };

/* As tbreport diff does; *status: its exit status. The caller frees the text. */
static char *run(const struct build_result *const *results, const char *const *arguments,
		 int *status)
{
	const char *const names[] = {"diff", NULL};
	char directory[32];
	char paths[4][64];
	char output[64];
	char *argv[DIFF_OPTIONS_MAX] = {(char *)(uintptr_t) "tbreport", (char *)(uintptr_t) "diff",
					(char *)(uintptr_t) "-o", output};
	int argc = 4;
	struct report_options options;
	char *problem;
	build_directory(directory);
	snprintf(output, sizeof(output), "%s/out", directory);
	for (; arguments && *arguments; arguments++)
		argv[argc++] = (char *)(uintptr_t)*arguments;
	for (size_t i = 0; results[i]; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/r%zu.tb5", directory, i);
		build_result_write(paths[i], results[i]);
		argv[argc++] = paths[i];
	}
	ck_assert_int_eq(report_options_parse(argc, argv, names, &options, &problem),
			 REPORT_OPTIONS_RUN);
	*status = report_diff_run(&options);
	report_options_finish(&options);
	char *text = calloc(1, 8192);
	FILE *file = fopen(output, "r");
	if (file) {
		ck_assert_uint_lt(fread(text, 1, 8191, file), 8191);
		fclose(file);
	}
	build_directory_remove(directory);
	return text;
}

static const struct build_sample before[] = {
	{.stack = "app:main app:a", .count = 400, .cpu_ms = 10},
	{.stack = "app:main app:b", .count = 400, .cpu_ms = 10},
	{.stack = "app:main app:c", .count = 400, .cpu_ms = 10},
	{.stack = "app:main lib:gone", .count = 100, .cpu_ms = 10},
};

/* The order of the functions, and so their addresses, is another. */
static const struct build_sample after[] = {
	{.stack = "app:fresh app:main lib:extra", .count = 100, .cpu_ms = 10},
	{.stack = "app:main app:c", .count = 800, .cpu_ms = 10},
	{.stack = "app:main app:b", .count = 400, .cpu_ms = 10},
	{.stack = "app:main app:a.cold", .count = 10, .cpu_ms = 10},
	{.stack = "app:main app:a", .count = 390, .cpu_ms = 10},
};

static const struct build_result base = {.samples = before, .count = 4, .is_finalized = true};
static const struct build_result changed = {.samples = after, .count = 5, .is_finalized = true};

START_TEST(test_functions)
{
	int status;
	char *text =
		run((const struct build_result *const[]){&base, &changed, NULL},
		    (const char *const[]){"--format", "csv", "--fail-above", "5%", NULL}, &status);
	static const char *const lines[] = {
		"Function,Base CPU Time,CPU Time,Difference,Change,Change Std Error,Verdict,p "
		"Value,Base Samples,Samples,Module,Function (Full)\n"
		"[Total],13.000000,17.000000,4.000000,0.307692,,,,1300,1700,,[Total]\n"
		"c,4.000000,8.000000,4.000000,1.000000,",
		",slower,",
		",400,800,app,c(int)\n",
		"gone,1.000000,0.000000,-1.000000,,,gone,",
		",100,0,lib.so,gone(int)\n",
		"extra,0.000000,1.000000,1.000000,,,new,",
		"a,4.000000,4.000000,0.000000,0.000000,",
		"b,4.000000,4.000000,0.000000,0.000000,",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(text, lines[i]), "'%s' is not in:\n%s", lines[i], text);
	ck_assert_int_eq(status, DIFF_EXIT_SLOWER);
	free(text);
}
END_TEST

START_TEST(test_status)
{
	int status;
	static const char *const one_side[] = {"--fail-above", "5", NULL};
	free(run((const struct build_result *const[]){&base, &base, NULL}, one_side, &status));
	ck_assert_int_eq(status, 0);
	/* What became faster is no failure, c half as long. */
	static const char *const much[] = {"--fail-above", "100", "--filter", "function=~^[abc]$",
					   NULL};
	free(run((const struct build_result *const[]){&base, &changed, NULL}, much, &status));
	ck_assert_int_eq(status, 0);
	free(run((const struct build_result *const[]){&changed, &base, NULL}, much, &status));
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_groups)
{
	static const struct {
		const char *group;
		const char *line;
	} groups[] = {
		{"module", "\napp,12.000000,16.000000,4.000000,"},
		{"thread", "\napp,13.000000,17.000000,4.000000,"},
		{"stack", "\nc < main,4.000000,8.000000,4.000000,"},
		{"stack", "\nextra < main < fresh,0.000000,1.000000,1.000000,"},
	};
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		int status;
		char *text = run((const struct build_result *const[]){&base, &changed, NULL},
				 (const char *const[]){"--format", "csv", "--group-by",
						       groups[i].group, NULL},
				 &status);
		ck_assert_msg(strstr(text, groups[i].line), "'%s' is not in:\n%s", groups[i].line,
			      text);
		free(text);
	}
}
END_TEST

START_TEST(test_runs)
{
	int status;
	char *text = run((const struct build_result *const[]){&base, &changed, &base, NULL},
			 (const char *const[]){"--format", "csv", "--limit", "2", NULL}, &status);
	ck_assert_str_eq(text, "Function,r0.tb5,r1.tb5,r2.tb5,Module\n"
			       "[Total],13.000000,17.000000,13.000000,\n"
			       "c,4.000000,8.000000,4.000000,app\n"
			       "a,4.000000,4.000000,4.000000,app\n");
	ck_assert_int_eq(status, 0);
	free(text);
}
END_TEST

START_TEST(test_text)
{
	int status;
	char *text =
		run((const struct build_result *const[]){&base, &changed, NULL}, NULL, &status);
	static const char *const parts[] = {"CPU Time: 17.000 s, base 13.000 s: +30.8 %\n",
					    "Rows of one speed took +0.0 %", "+4.000 s  +100.0 %",
					    "slower"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_msg(strstr(text, parts[i]), "'%s' is not in:\n%s", parts[i], text);
	free(text);
}
END_TEST

START_TEST(test_other_event)
{
	int status;
	struct build_result counted = base;
	counted.event = "page-faults";
	free(run((const struct build_result *const[]){&base, &counted, NULL}, NULL, &status));
	ck_assert_int_eq(status, EXIT_FAILURE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report diff");
	TCase *cases = tcase_create("report diff");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_functions);
	tcase_add_test(cases, test_status);
	tcase_add_test(cases, test_groups);
	tcase_add_test(cases, test_runs);
	tcase_add_test(cases, test_text);
	tcase_add_test(cases, test_other_event);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
