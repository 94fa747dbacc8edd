/* The tb5 file that an argument means. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/cli/find_result.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(const char *directory, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
}

static void set_time(const char *name, time_t seconds)
{
	struct timeval times[2] = {{seconds, 0}, {seconds, 0}};
	ck_assert_int_eq(utimes(name, times), 0);
}

static void expect_located(const char *argument, const char *expected)
{
	char *path = NULL;
	enum find_result_status status = find_result(argument, &path);
	ck_assert_int_eq(status, FIND_RESULT_FOUND);
	ck_assert_str_eq(path, expected);
	free(path);
}

static enum find_result_status not_located(const char *argument)
{
	char *path = NULL;
	enum find_result_status status = find_result(argument, &path);
	ck_assert_int_ne(status, FIND_RESULT_FOUND);
	ck_assert_ptr_null(path);
	return status;
}

START_TEST(test_locate)
{
	char directory[32];
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(not_located(NULL), FIND_RESULT_NO_RESULT);
	ck_assert_int_eq(not_located("r000hs"), FIND_RESULT_MISSING);
	mkdir("r000hs", 0700);
	ck_assert_int_eq(not_located(NULL), FIND_RESULT_NO_RESULT);
	ck_assert_int_eq(not_located("r000hs"), FIND_RESULT_NO_TB5);
	mkdir("closed", 0);
	/* root may look everywhere */
	ck_assert_int_eq(not_located("closed"),
			 geteuid() == 0 ? FIND_RESULT_NO_TB5 : FIND_RESULT_DENIED);
	rmdir("closed");
	touch("r000hs", "r000hs.tb5");
	expect_located(NULL, "r000hs/r000hs.tb5");
	expect_located("r000hs", "r000hs/r000hs.tb5");
	expect_located("r000hs/", "r000hs/r000hs.tb5");
	expect_located("r000hs/r000hs.tb5", "r000hs/r000hs.tb5");
	/* the time counts, not the number, and that not the order of names */
	mkdir("r999hs", 0700);
	touch("r999hs", "r999hs.tb5");
	mkdir("r1000cc", 0700);
	touch("r1000cc", "other.tb5");
	set_time("r000hs", 3000);
	set_time("r999hs", 2000);
	set_time("r1000cc", 2000);
	expect_located(NULL, "r000hs/r000hs.tb5");
	set_time("r000hs", 1000);
	expect_located(NULL, "r1000cc/other.tb5");
	touch("r1000cc", "another.tb5");
	ck_assert_int_eq(not_located("r1000cc"), FIND_RESULT_AMBIGUOUS);
	touch("r1000cc", "r1000cc.tb5");
	set_time("r1000cc", 2000);
	expect_located("r1000cc", "r1000cc/r1000cc.tb5");
	/* names that are no result's */
	static const char *const others[] = {"r9999", "r9999hsxx", "r99hs", "x9999hs", "r9999HS"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		mkdir(others[i], 0700);
		touch(others[i], "a.tb5");
	}
	touch(".", "r2000hs");
	expect_located(NULL, "r1000cc/r1000cc.tb5");
	ck_assert_int_eq(chdir("r000hs"), 0);
	expect_located(".", "./r000hs.tb5");
	ck_assert_int_eq(chdir("/"), 0);
	build_directory_remove(directory);
}
END_TEST

/* As an ordinary user, whoever runs the tests. exit: the sanitizers look for leaks. */
static void locate_unreadable(void)
{
	char *path = NULL;
	if (geteuid() == 0 &&
	    (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
		exit(2);
	prctl(PR_SET_DUMPABLE, 1);
	exit(find_result("r000hs", &path) != FIND_RESULT_DENIED || path);
}

START_TEST(test_locate_unreadable)
{
	char directory[32];
	int status;
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir("r000hs", 0755), 0);
	touch("r000hs", "r000hs.tb5");
	ck_assert_int_eq(chmod("r000hs/r000hs.tb5", 0), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		locate_unreadable();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	build_directory_remove(directory);
}
END_TEST

/* Of equal numbers the one changed last. */
START_TEST(test_locate_equal_numbers)
{
	char directory[32];
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	static const char *const names[] = {"r005cc", "r005hs", "r005lw"};
	for (int i = 0; i < 3; i++) {
		mkdir(names[i], 0700);
		touch(names[i], "a.tb5");
		set_time(names[i], i == 1 ? 2000 : 1000);
	}
	expect_located(NULL, "r005hs/a.tb5");
	ck_assert_int_eq(chdir("/"), 0);
	build_directory_remove(directory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("locate");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_locate);
	tcase_add_test(cases, test_locate_unreadable);
	tcase_add_test(cases, test_locate_equal_numbers);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
