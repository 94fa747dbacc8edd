/* /proc of this pid namespace, and of an outer one. */
#include "collector/perf/pid_namespace.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static struct failure failure;

static int check(const char *status)
{
	FILE *file = fmemopen(NULL, strlen(status) + 1, "w+");
	ck_assert_ptr_nonnull(file);
	fputs(status, file);
	rewind(file);
	failure = (struct failure){0};
	int result = pid_namespace_check_status(file, &failure);
	fclose(file);
	return result;
}

START_TEST(same)
{
	ck_assert_int_eq(check("Name:\tx\nNSpid:\t12\nNSpgid:\t12\t1\n"), 0);
	ck_assert_int_eq(check("Name:\tx\nNSpid:\t12"), 0);
	ck_assert_int_eq(check("Name:\tx\nPid:\t12\n"), 0); /* no namespaces */
	ck_assert_int_eq(check(""), 0);
	ck_assert_int_eq(failure.exit_status, 0);
}
END_TEST

START_TEST(outer)
{
	ck_assert_int_eq(check("Name:\tx\nNSpid:\t4711\t12\nNSpgid:\t4711\t12\n"), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "process 4711,"));
	/* Even where the numbers happen to be the same. */
	ck_assert_int_eq(check("Name:\tx\nNSpid:\t12\t12\n"), -1);
	ck_assert_int_eq(check("Name:\tx\nNSpid:\t9\t5\t1\n"), -1);
}
END_TEST

/* Of a user in as many groups as there may be; and a line that only ends like the wanted one. */
START_TEST(after_many_groups)
{
	enum { GROUPS = 65536, EACH = 11 };
	static char text[GROUPS * EACH + 256];
	char *end = text + sprintf(text, "Name:\tx\nGroups:\t");
	for (int i = 0; i < GROUPS; i++)
		end += sprintf(end, "%u ", 4294901760u + i);
	strcpy(end, "\nNSpid:\t4711\t12\n");
	ck_assert_int_eq(check(text), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "process 4711,"));
	strcpy(end, "NSpid:\t4711\t12\n");
	ck_assert_int_eq(check(text), 0);
}
END_TEST

START_TEST(here)
{
	failure = (struct failure){0};
	ck_assert_msg(pid_namespace_check(&failure) == 0, "%s", failure.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_namespace");
	TCase *tcase = tcase_create("pid_namespace");

	tcase_add_test(tcase, same);
	tcase_add_test(tcase, outer);
	tcase_add_test(tcase, after_many_groups);
	tcase_add_test(tcase, here);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
