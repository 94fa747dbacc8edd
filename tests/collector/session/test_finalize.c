/* Finalization is a program of its own, found beside this one or in PATH; here it is a script. */
#include "collector/session/finalize.h"
#include "tests/support/suite.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];
static char program[64];
static char output[64];

static void setup(void)
{
	strcpy(folder, "/tmp/finalize-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/tbconvert", folder);
	snprintf(output, sizeof(output), "%s/out", folder);
	ck_assert_int_eq(setenv("PATH", folder, 1), 0);
	ck_assert_int_eq(setenv("OUTPUT", output, 1), 0);
}

static void teardown(void)
{
	unlink(program);
	unlink(output);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_program(const char *commands)
{
	FILE *file = fopen(program, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "#!/bin/sh\n%s\n", commands);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(program, 0700), 0);
}

static int wait_for(pid_t pid)
{
	int status = -2;
	while (!finalize_has_ended(pid, &status))
		usleep(1000);
	return status;
}

START_TEST(result_is_the_last_argument)
{
	char text[256] = "";
	write_program("for argument; do echo \"$argument\"; done > $OUTPUT");
	pid_t pid = finalize_start("-odd name", false);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(wait_for(pid), 0);
	FILE *file = fopen(output, "r");
	ck_assert_ptr_nonnull(file);
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	ck_assert_msg(strncmp(text, "finalize\n", 9) == 0, "%s", text);
	ck_assert_msg(size > 13 && strcmp(text + size - 13, "--\n-odd name\n") == 0, "%s", text);
	ck_assert_ptr_null(strstr(text, "--any-owner"));
}
END_TEST

START_TEST(any_owner)
{
	write_program("test \"$*\" = 'finalize --any-owner -- r'");
	ck_assert_int_eq(wait_for(finalize_start("r", true)), 0);
}
END_TEST

START_TEST(exit_statuses)
{
	write_program("exit 3");
	ck_assert_int_eq(wait_for(finalize_start("r", false)), 3);
	write_program("kill -TERM $$");
	ck_assert_int_eq(wait_for(finalize_start("r", false)), 128 + SIGTERM);
}
END_TEST

START_TEST(none_to_be_found)
{
	ck_assert_int_eq(finalize_start("r", false), -1);
}
END_TEST

START_TEST(no_child_of_ours)
{
	int status = 0;
	ck_assert(finalize_has_ended(getppid(), &status));
	ck_assert_int_eq(status, -1);
}
END_TEST

/* The collector blocks signals; what it starts must still be ended by them. */
START_TEST(signals_reach_it)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	write_program("while :; do /bin/sleep 1; done");
	pid_t pid = finalize_start("r", false);
	int status;
	ck_assert(!finalize_has_ended(pid, &status));
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(wait_for(pid), 128 + SIGTERM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("finalize");
	TCase *tcase = tcase_create("finalize");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, result_is_the_last_argument);
	tcase_add_test(tcase, any_owner);
	tcase_add_test(tcase, exit_statuses);
	tcase_add_test(tcase, none_to_be_found);
	tcase_add_test(tcase, no_child_of_ours);
	tcase_add_test(tcase, signals_reach_it);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
