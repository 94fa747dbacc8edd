/* One failure, said once, on one line. */
#include "collector/message/failure.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

START_TEST(set)
{
	struct failure failure = {0};
	ck_assert_int_eq(failure_set(&failure, FAILURE_EXIT_USAGE, "bad %s: %d", "thing", 7), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT_USAGE);
	ck_assert_str_eq(failure.text, "bad thing: 7");
}
END_TEST

START_TEST(first_one_stays)
{
	struct failure failure = {0};
	failure_set(&failure, FAILURE_EXIT, "the cause");
	ck_assert_int_eq(failure_set(&failure, FAILURE_EXIT_NOT_FOUND, "a consequence"), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT);
	ck_assert_str_eq(failure.text, "the cause");
}
END_TEST

START_TEST(one_line)
{
	struct failure failure = {0};
	failure_set(&failure, FAILURE_EXIT, "cannot open %s", "a\nb\r\nc");
	ck_assert_str_eq(failure.text, "cannot open a b  c");
}
END_TEST

START_TEST(too_long)
{
	struct failure failure = {0};
	char text[3000];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	failure_set(&failure, FAILURE_EXIT, "%s", text);
	ck_assert_uint_eq(strlen(failure.text), sizeof(failure.text) - 1);
}
END_TEST

static const char *text_of_error(int error)
{
	static struct failure failure;
	failure = (struct failure){0};
	ck_assert_int_eq(failure_set_error(&failure, error, "cannot open %s", "x"), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT);
	return failure.text;
}

START_TEST(error_and_what_lifts_it)
{
	ck_assert_str_eq(text_of_error(ENOENT), "cannot open x: No such file or directory");
	ck_assert_ptr_nonnull(strstr(text_of_error(ENFILE), "fs.file-max"));
	ck_assert_ptr_nonnull(strstr(text_of_error(EAGAIN), "ulimit -u"));
	ck_assert_ptr_nonnull(strstr(text_of_error(ENOSYS), "seccomp"));
	struct failure failure = {0};
	failure_set_error(&failure, ENOENT, "the cause");
	failure_set_error(&failure, EMFILE, "what came of it");
	ck_assert_str_eq(failure.text, "the cause: No such file or directory");
}
END_TEST

/* The soft limit is the one that is met; only where it is the hard one too is that to be raised. */
START_TEST(limit_of_files)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_max = 64;
	limit.rlim_cur = 48;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_str_eq(text_of_error(EMFILE),
			 "cannot open x: Too many open files; the limit is 48, raise it with "
			 "ulimit -Sn");
	limit.rlim_cur = 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_str_eq(text_of_error(EMFILE),
			 "cannot open x: Too many open files; the limit is 64, raise it with "
			 "ulimit -Hn, or in /etc/security/limits.conf");
}
END_TEST

START_TEST(limit_of_memory)
{
	struct rlimit limit;
	char text[128];
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	if (limit.rlim_max == RLIM_INFINITY) {
		ck_assert_str_eq(text_of_error(ENOMEM), "cannot open x: out of memory");
		/* More than what the sanitizers map. */
		limit.rlim_cur = 1ULL << 50;
		ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	}
	snprintf(text, sizeof(text),
		 "cannot open x: out of memory; the limit of address space is %llu KB (ulimit -v)",
		 (unsigned long long)limit.rlim_cur / 1024);
	ck_assert_str_eq(text_of_error(ENOMEM), text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("failure");
	TCase *tcase = tcase_create("failure");

	tcase_add_test(tcase, set);
	tcase_add_test(tcase, first_one_stays);
	tcase_add_test(tcase, one_line);
	tcase_add_test(tcase, too_long);
	tcase_add_test(tcase, error_and_what_lifts_it);
	tcase_add_test(tcase, limit_of_files);
	tcase_add_test(tcase, limit_of_memory);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
