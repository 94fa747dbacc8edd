/* The report callers, the condition on the stack, and a part of the run. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/render_report.h"
#include "tools/report/report.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* work is called by main, by other, by nobody, and by itself through back. */
static const struct build_sample samples[] = {
	{.stack = "app:main app:work app:leaf", .count = 3, .cpu_ms = 10},
	{.stack = "app:main app:work", .count = 2, .cpu_ms = 10},
	{.stack = "app:main app:other app:work app:leaf app:deep", .count = 4, .cpu_ms = 10},
	{.stack = "app:main app:work app:back app:work", .count = 1, .cpu_ms = 10},
	{.stack = "app:work app:leaf", .count = 1, .cpu_ms = 10},
	{.stack = "app:main app:other", .count = 9, .cpu_ms = 10},
};

static const struct build_result result = {.samples = samples,
					   .count = sizeof(samples) / sizeof(samples[0]),
					   .is_finalized = true};

#define HEADER                                                                      \
	"Role,Function,CPU Time:Total,CPU Time:Self,Samples:Total,Module,Function " \
	"(Full),Of Function,Share Std Error\n"

/* Without standard errors: those are of the other reports too. The caller frees the text. */
static char *render(const char *const *arguments)
{
	char directory[32];
	char path[64];
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
	build_result_write(path, &result);
	char *text = render_file_as(path, "callers", report_callers_print, 0, arguments);
	build_directory_remove(directory);
	char *to = text;
	for (char *from = text; *from; from++) {
		char *comma = *from == '\n' && from > text ? memrchr(text, ',', (size_t)(to - text))
							   : NULL;
		if (comma && strncmp(comma, ",Share", 6) != 0)
			to = comma + 1;
		*to++ = *from;
	}
	*to = '\0';
	return text;
}

static void expect(const char *const *arguments, const char *expected)
{
	char *text = render(arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(test_callers_and_callees)
{
	/* The stack of the recursion counts once in each row; back calls work and work back. */
	expect((const char *const[]){"work", "--format", "csv", NULL},
	       HEADER "caller,main,0.060000,0.020000,6,app,main(int),work,\n"
		      "caller,other,0.040000,0.000000,4,app,other(int),work,\n"
		      "caller,back,0.010000,0.010000,1,app,back(int),work,\n"
		      "caller,[No caller],0.010000,0.000000,1,,[No caller],work,\n"
		      "function,work,0.110000,0.030000,11,app,work(int),work,\n"
		      "callee,leaf,0.080000,0.040000,8,app,leaf(int),work,\n"
		      "callee,back,0.010000,0.000000,1,app,back(int),work,\n");
}
END_TEST

START_TEST(test_several_functions)
{
	/* By their total; --limit holds for callers and for callees of each. */
	expect((const char *const[]){"~^(leaf|work)$", "--format", "csv", "--limit", "1", NULL},
	       HEADER "caller,main,0.060000,0.020000,6,app,main(int),work,\n"
		      "function,work,0.110000,0.030000,11,app,work(int),work,\n"
		      "callee,leaf,0.080000,0.040000,8,app,leaf(int),work,\n"
		      "caller,work,0.080000,0.040000,8,app,work(int),leaf,\n"
		      "function,leaf,0.080000,0.040000,8,app,leaf(int),leaf,\n"
		      "callee,deep,0.040000,0.040000,4,app,deep(int),leaf,\n");
}
END_TEST

START_TEST(test_stack_condition)
{
	expect((const char *const[]){"leaf", "--format", "csv", "--filter", "stack=other", NULL},
	       HEADER "caller,work,0.040000,0.000000,4,app,work(int),leaf,\n"
		      "function,leaf,0.040000,0.000000,4,app,leaf(int),leaf,\n"
		      "callee,deep,0.040000,0.040000,4,app,deep(int),leaf,\n");
	expect((const char *const[]){"leaf", "--format", "csv", "--filter", "stack=other",
				     "--filter", "stack=~^back", NULL},
	       HEADER);
}
END_TEST

START_TEST(test_text)
{
	char *text = render((const char *const[]){"deep", NULL});
	render_expect(text, (const char *const[]){"CPU Time:Total   CPU %", "CPU Time:Self  Role",
						  "caller    app     leaf",
						  "function  app     deep", NULL});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callers");
	TCase *callers = tcase_create("callers");
	tcase_set_timeout(callers, 60);
	tcase_add_test(callers, test_callers_and_callees);
	tcase_add_test(callers, test_several_functions);
	tcase_add_test(callers, test_stack_condition);
	tcase_add_test(callers, test_text);
	suite_add_tcase(suite, callers);
	return run_suite(suite);
}
