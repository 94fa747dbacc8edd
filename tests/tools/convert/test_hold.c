/* Files that tbconvert changes or makes stay the ones that were found, whatever their directories'
 * names lead to afterwards. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/convert/hold.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

static void set_up(void)
{
	build_directory(folder);
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("r", 0700), 0);
	ck_assert_int_eq(mkdir("victim", 0700), 0);
}

static void tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	build_directory_remove(folder);
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* What whoever owns the directory around may do at any time. */
static void lead_elsewhere(void)
{
	ck_assert_int_eq(rename("r", "moved"), 0);
	ck_assert_int_eq(symlink("victim", "r"), 0);
}

static void assert_same(const char *one, const char *other)
{
	struct stat first;
	struct stat second;
	ck_assert_int_eq(stat(one, &first), 0);
	ck_assert_int_eq(stat(other, &second), 0);
	ck_assert_uint_eq(first.st_ino, second.st_ino);
}

START_TEST(test_result)
{
	char *held = NULL;
	touch("r/r.tb5");
	touch("victim/r.tb5");
	ck_assert_int_eq(hold_result("r/r.tb5", &held), 0);
	lead_elsewhere();
	assert_same(held, "moved/r.tb5");
	free(held);
}
END_TEST

START_TEST(test_result_without_directory)
{
	char *held = NULL;
	touch("x.tb5");
	ck_assert_int_eq(hold_result("x.tb5", &held), 0);
	assert_same(held, "x.tb5");
	free(held);
	ck_assert_int_eq(hold_result("gone.tb5", &held), EXIT_FAILURE);
	ck_assert_int_eq(hold_result("gone/x.tb5", &held), EXIT_FAILURE);
}
END_TEST

START_TEST(test_output)
{
	char *held = NULL;
	ck_assert_int_eq(hold_output("r/new.tb5", &held), 0);
	lead_elsewhere();
	touch(held);
	assert_same(held, "moved/new.tb5");
	ck_assert_int_eq(rmdir("victim"), 0);
	free(held);
	ck_assert_int_eq(hold_output("gone/new.tb5", &held), EXIT_FAILURE);
}
END_TEST

static void assert_refused(const char *path)
{
	char *held = NULL;
	ck_assert_int_eq(hold_result(path, &held), EXIT_FAILURE);
	ck_assert_ptr_null(held);
}

/* The file, the link, or the directory, whose owner may put another file into it. */
START_TEST(test_of_others)
{
	char *held = NULL;
	touch("r/r.tb5");
	ck_assert_int_eq(symlink("r", "link"), 0);
	ck_assert_int_eq(hold_result("link/r.tb5", &held), 0);
	free(held);
	ck_assert_int_eq(lchown("link", 65534, 65534), 0);
	assert_refused("link/r.tb5");
	ck_assert_int_eq(chown("r/r.tb5", 65534, 65534), 0);
	assert_refused("r/r.tb5");
	ck_assert_int_eq(chown("r/r.tb5", 0, 0), 0);
	ck_assert_int_eq(chown("r", 65534, 65534), 0);
	assert_refused("r/r.tb5");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hold");
	TCase *cases = tcase_create("hold");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_result);
	tcase_add_test(cases, test_result_without_directory);
	tcase_add_test(cases, test_output);
	if (geteuid() == 0)
		tcase_add_test(cases, test_of_others);
	else
		printf("skipped - results of others: only root can make them\n");
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
