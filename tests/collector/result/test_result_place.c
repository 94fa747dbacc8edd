/* Result directories in places where other users may write: nothing of a result is theirs, or goes
 * where they lead it. */
#include "collector/result/result.h"
#include "tests/collector/result_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*after_mkdir)(const char *path); /* what another user does next */

/* The library's, followed by what another user may do where the directory around is theirs. */
int mkdir(const char *path, mode_t mode)
{
	void (*next)(const char *) = after_mkdir;
	int made = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
	after_mkdir = NULL;
	if (made == 0 && next)
		next(path);
	return made;
}

/* Root may write anywhere, so that another user tries; in a process of its own. */
static int try_as_other_user(const char *wanted)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(3);
		int made = result_create(&result, wanted, "hs", &failure);
		_exit(made == 0 ? 0 : strstr(failure.text, "Permission denied") ? 1 : 2);
	}
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static unsigned mode_of(const char *path)
{
	struct stat status;
	ck_assert_int_eq(lstat(path, &status), 0);
	return status.st_mode & 07777;
}

START_TEST(for_the_owner_only)
{
	static const mode_t masks[] = {0, 022, 0777};
	char name[16];
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		snprintf(name, sizeof(name), "out%zu", i);
		mode_t before = umask(masks[i]);
		int first = result_create(&result, name, "hs", &failure);
		int second = result_create(&result, NULL, "hs", &failure);
		umask(before);
		ck_assert_msg(first == 0 && second == 0, "%s", failure.text);
		ck_assert_uint_eq(mode_of(name), 0700);
		ck_assert_uint_eq(mode_of(result.directory), 0700);
	}
}
END_TEST

/* What this user, and what another one, has put in the place. Only root can act as another. */
START_TEST(planted)
{
	mkdir("real", 0777);
	ck_assert_int_eq(symlink("real", "own"), 0);
	result_fixture_assert_created("own", "own", "own/own.tb5");
	ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
	result_fixture_assert_refused("dangling", "leads nowhere");
	ck_assert(!result_fixture_exists("nowhere"));
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(symlink("real", "link"), 0);
	ck_assert_int_eq(lchown("link", 65534, 65534), 0);
	mkdir("theirs", 0777);
	ck_assert_int_eq(chown("theirs", 65534, 65534), 0);
	ck_assert_int_eq(symlink("theirs", "to-theirs"), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	failure = (struct failure){0};
	result_fixture_assert_refused("link", "link that another user made");
	failure = (struct failure){0};
	result_fixture_assert_refused("theirs", "belongs to another user");
	failure = (struct failure){0};
	result_fixture_assert_refused("to-theirs", "belongs to another user");
	failure = (struct failure){0};
	ck_assert_int_eq(try_as_other_user("theirs"), 0);
}
END_TEST

static void put_link(const char *path)
{
	ck_assert_int_eq(rename(path, "moved away"), 0);
	ck_assert_int_eq(symlink("victim", path), 0);
}

static void put_directory(const char *path)
{
	ck_assert_int_eq(rename(path, "moved away"), 0);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(chown(path, 65534, 65534), 0);
}

/* A link that is put into a new directory's place: nothing goes where it leads, whose permissions
 * stay; nor is the link removed. */
START_TEST(link_in_its_place)
{
	ck_assert_int_eq(mkdir("victim", 0750), 0);
	ck_assert_int_eq(chmod("victim", 0750), 0);
	after_mkdir = put_link;
	result_fixture_assert_refused("out", "just after it was made");
	ck_assert_int_eq(rmdir("victim"), 0);
	ck_assert_uint_eq(mode_of("moved away"), 0700);
	ck_assert(result_fixture_exists("out"));
}
END_TEST

START_TEST(permissions_of_a_victim)
{
	ck_assert_int_eq(mkdir("victim", 0750), 0);
	ck_assert_int_eq(chmod("victim", 0750), 0);
	after_mkdir = put_link;
	result_create(&result, NULL, "hs", &failure);
	ck_assert_uint_eq(mode_of("victim"), 0750);
}
END_TEST

/* Theirs to look into and to change: refused, once a file tells whose it is. */
START_TEST(directory_in_its_place)
{
	after_mkdir = put_directory;
	ck_assert_int_eq(result_create(&result, "out", "hs", &failure), 0);
	result_fixture_touch(result.through);
	ck_assert_int_eq(result_hold(&result, &failure), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "another user has put"));
	result_remove(&result);
	result_finish(&result);
	ck_assert_int_eq(rmdir("out"), 0); /* it is empty */
}
END_TEST

/* Once it was looked at, the directory's name does not matter any more. */
START_TEST(moved_before_the_file_is_made)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	ck_assert_int_eq(mkdir("victim", 0700), 0);
	put_link("out");
	result_fixture_touch(result.through);
	ck_assert(result_fixture_exists("moved away/out.tb5"));
	ck_assert_int_eq(rmdir("victim"), 0);
	ck_assert_int_eq(result_hold(&result, &failure), 0);
	ck_assert_int_eq(result_check(&result, &failure), 0);
	ck_assert_ptr_nonnull(strstr(result.file, "/moved away/out.tb5"));
	result_finish(&result);
}
END_TEST

/* What was made is removed wherever it is, and what has its name stays. */
START_TEST(removed_where_it_is)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/out.tb5");
	ck_assert_int_eq(rename("out", "moved away"), 0);
	ck_assert_int_eq(mkdir("out", 0700), 0);
	result_fixture_touch("out/out.tb5");
	result_remove(&result);
	ck_assert(!result_fixture_exists("moved away/out.tb5"));
	ck_assert(result_fixture_exists("out/out.tb5"));
	ck_assert_int_eq(unlink("out/out.tb5"), 0);
	result_remove(&result);
	ck_assert(result_fixture_exists("out"));
}
END_TEST

START_TEST(links_to_links)
{
	mkdir("real", 0777);
	mkdir("far", 0777);
	ck_assert_int_eq(symlink("../real", "far/second"), 0);
	ck_assert_int_eq(symlink("far/second", "first"), 0);
	result_fixture_assert_created("first", "first", "first/first.tb5");
	result_fixture_touch(result.through);
	ck_assert(result_fixture_exists("real/first.tb5"));
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	result_fixture_assert_refused("loop", "leads nowhere");
}
END_TEST

START_TEST(link_to_a_link_of_others)
{
	mkdir("real", 0777);
	ck_assert_int_eq(symlink("real", "second"), 0);
	ck_assert_int_eq(symlink("second", "first"), 0);
	ck_assert_int_eq(lchown("second", 65534, 65534), 0);
	result_fixture_assert_refused("first", "link that another user made");
}
END_TEST

START_TEST(unwritable)
{
	ck_assert_int_eq(mkdir("out", 0777), 0);
	ck_assert_int_eq(chmod("out", 0555), 0);
	ck_assert_int_eq(chmod(".", 0555), 0);
	ck_assert_int_eq(try_as_other_user(NULL), 1);
	ck_assert_int_eq(try_as_other_user("new"), 1);
	ck_assert_int_eq(try_as_other_user("out"), 1);
	ck_assert(result_fixture_exists("out"));
	ck_assert(!result_fixture_exists("r000hs"));
	ck_assert_int_eq(chmod(".", 0777), 0);
	ck_assert_int_eq(try_as_other_user("new"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result place");
	TCase *tcase = tcase_create("result place");
	tcase_add_checked_fixture(tcase, result_fixture_setup, result_fixture_teardown);
	tcase_add_test(tcase, for_the_owner_only);
	tcase_add_test(tcase, planted);
	tcase_add_test(tcase, link_in_its_place);
	tcase_add_test(tcase, permissions_of_a_victim);
	tcase_add_test(tcase, moved_before_the_file_is_made);
	tcase_add_test(tcase, removed_where_it_is);
	tcase_add_test(tcase, links_to_links);
	tcase_add_test(tcase, unwritable);
	if (geteuid() == 0) {
		tcase_add_test(tcase, directory_in_its_place);
		tcase_add_test(tcase, link_to_a_link_of_others);
	} else {
		printf("skipped - what other users put there: only root can act for them\n");
	}
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
