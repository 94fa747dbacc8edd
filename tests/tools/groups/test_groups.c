/* Total times, and the rows by line and by call site. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/render_report.h"
#include "tools/report/report.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Frames get lines as they appear: main 10, work 20, leaf 30; small is inlined into outer, which
 * are one frame of line 40, and its call's. work calls itself through back. */
static const struct build_sample samples[] = {
	{.stack = "app:main app:work app:leaf", .count = 3, .cpu_ms = 10},
	{.stack = "app:main app:outer>small app:leaf", .count = 4, .cpu_ms = 10},
	{.stack = "app:main app:work app:back app:work app:leaf", .count = 1, .cpu_ms = 10},
	{.stack = "app:main app:work", .count = 2, .cpu_ms = 10},
};

static const struct build_result result = {.samples = samples,
					   .count = sizeof(samples) / sizeof(samples[0]),
					   .rest_ms = 5,
					   .is_finalized = true};

/* The columns with these titles, of all rows; the caller frees the text. */
static char *render(const char *const *arguments)
{
	return render_report(&result, report_hotspots_print, 0, arguments);
}

/* A row of CSV: its first field, and its last, which is the total. */
static void expect_total(const char *text, const char *name, const char *own, const char *total)
{
	char begin[64];
	snprintf(begin, sizeof(begin), "\n%s,", name);
	const char *row = strstr(text, begin);
	ck_assert_msg(row != NULL, "no %s in:\n%s", name, text);
	const char *end = strchr(row + 1, '\n');
	ck_assert_msg(strncmp(row + strlen(begin), own, strlen(own)) == 0 &&
			      strncmp(end - strlen(total), total, strlen(total)) == 0,
		      "%s is not %s ... %s in:\n%s", name, own, total, text);
}

/* A stack of a recursion counts once. */
START_TEST(totals)
{
	char *text = render((const char *const[]){"--format=csv", "--sort=CPU Time:Total", NULL});
	expect_total(text, "main", "0.000000,0,", ",0.100000");
	expect_total(text, "leaf", "0.080000,8,", ",0.080000");
	expect_total(text, "work", "0.020000,2,", ",0.060000");
	expect_total(text, "outer", "0.000000,0,", ",0.040000");
	expect_total(text, "small", "0.000000,0,", ",0.040000");
	expect_total(text, "back", "0.000000,0,", ",0.010000");
	expect_total(text, "[No sample]", "0.005000,0,", ",0.005000");
	ck_assert_ptr_nonnull(strstr(text, "\nmain,0.000000,0,app,main(int),app.c,"));
	ck_assert(strstr(text, "\nmain") < strstr(text, "\nleaf") &&
		  strstr(text, "\nleaf") < strstr(text, "\nwork") &&
		  strstr(text, "\nwork") < strstr(text, "\nback"));
	free(text);
	text = render((const char *const[]){"--format=csv", "--inline=off", "--sort=cpu_time_total",
					    NULL});
	expect_total(text, "outer", "0.000000,0,", ",0.040000");
	ck_assert_ptr_null(strstr(text, "\nsmall"));
	free(text);
}
END_TEST

/* In the order of their own time, functions without any have no row. */
START_TEST(without_own_time)
{
	char *text = render((const char *const[]){"--format=csv", NULL});
	ck_assert_ptr_null(strstr(text, "\nmain"));
	expect_total(text, "work", "0.020000,2,", ",0.060000");
	free(text);
	text = render(
		(const char *const[]){"--format=csv", "--sort=samples:asc", "--limit=1", NULL});
	ck_assert_ptr_null(strstr(text, "\nwork"));
	expect_total(text, "[No sample]", "0.005000,0,", ",0.005000");
	free(text);
}
END_TEST

START_TEST(lines)
{
	char *text = render((const char *const[]){"--format=csv", "--group-by=source-line",
						  "--sort=cpu_time_total", NULL});
	expect_total(text, "app.c:10", "0.000000,0,main,app,", ",0.100000");
	expect_total(text, "app.c:20", "0.020000,2,work,app,", ",0.060000");
	expect_total(text, "app.c:40", "0.000000,0,small,app,", ",0.040000");
	ck_assert_ptr_nonnull(strstr(text, ",/src/app.c,"));
	ck_assert_ptr_null(strstr(text, "app.c:0"));
	free(text);
}
END_TEST

/* Each pair of a calling line and the function called; a frame with an inlined function is two. */
START_TEST(call_sites)
{
	char *text = render((const char *const[]){"--format=csv", "--group-by=call-site",
						  "--sort=cpu_time_total", NULL});
	expect_total(text, "[No caller],[No caller]", "0.000000,0,main,app,", ",0.100000");
	expect_total(text, "app.c:20,work", "0.040000,4,leaf,app,", ",0.040000");
	expect_total(text, "app.c:10,main", "0.020000,2,work,app,", ",0.060000");
	expect_total(text, "app.c:40,small", "0.040000,4,leaf,app,", ",0.040000");
	ck_assert_ptr_nonnull(strstr(text, ",outer,0.000000,0,small,app,/src/app.c,,0.040000\n"));
	free(text);
}
END_TEST

/* Nothing is printed of a table without the column. */
START_TEST(no_such_column)
{
	char *text = render((const char *const[]){"--sort=wait time", NULL});
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("groups");
	TCase *groups = tcase_create("groups");
	tcase_set_timeout(groups, 60);
	tcase_add_test(groups, totals);
	tcase_add_test(groups, without_own_time);
	tcase_add_test(groups, lines);
	tcase_add_test(groups, call_sites);
	tcase_add_test(groups, no_such_column);
	suite_add_tcase(suite, groups);
	return run_suite(suite);
}
