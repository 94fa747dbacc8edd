/* Result directories: numbered, named, taken, and not to be had. */
#include "collector/result/result.h"
#include "profile/base/place.h"
#include "tests/collector/folder_fixture.h"
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

static const char *directory;
static struct result result;
static struct failure failure;

static void setup(void)
{
	directory = folder_fixture_make();
	failure = (struct failure){0};
}

static void teardown(void)
{
	folder_fixture_remove();
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static bool exists(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0;
}

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

static bool loses_input; /* right after the directory is opened */

/* The linker passes the product's calls here. */
int __wrap_profile_place_open(const char *path, enum profile_place *place);
int __real_profile_place_open(const char *path, enum profile_place *place);

int __wrap_profile_place_open(const char *path, enum profile_place *place)
{
	int fd = __real_profile_place_open(path, place);
	if (loses_input)
		close(STDIN_FILENO);
	return fd;
}

static void assert_created(const char *wanted, const char *path, const char *file)
{
	ck_assert_msg(result_create(&result, wanted, "hs", &failure) == 0, "%s", failure.text);
	ck_assert_str_eq(result.directory, path);
	ck_assert_str_eq(result.file, file);
	ck_assert(exists(path));
	ck_assert(!exists(file)); /* the writer makes it */
}

static void assert_refused(const char *wanted, const char *said)
{
	ck_assert_int_eq(result_create(&result, wanted, "hs", &failure), -1);
	ck_assert_int_ne(failure.exit_status, 0);
	ck_assert_msg(strstr(failure.text, said) != NULL, "%s", failure.text);
	ck_assert_ptr_nonnull(strstr(failure.text, wanted != NULL ? wanted : "r"));
}

START_TEST(numbered)
{
	assert_created(NULL, "r000hs", "r000hs/r000hs.tb5");
	assert_created(NULL, "r001hs", "r001hs/r001hs.tb5");
	assert_created(NULL, "r002hs", "r002hs/r002hs.tb5");
}
END_TEST

START_TEST(named_by_the_analysis)
{
	ck_assert_int_eq(result_create(&result, NULL, "lw", &failure), 0);
	ck_assert_str_eq(result.directory, "r000lw");
	ck_assert_str_eq(result.file, "r000lw/r000lw.tb5");
}
END_TEST

/* The number after the highest of any analysis; holes stay. */
START_TEST(numbered_after_others)
{
	mkdir("r007lw", 0777);
	mkdir("r002hs", 0777);
	assert_created(NULL, "r008hs", "r008hs/r008hs.tb5");
}
END_TEST

START_TEST(numbered_beyond_999)
{
	mkdir("r999hs", 0777);
	assert_created(NULL, "r1000hs", "r1000hs/r1000hs.tb5");
	assert_created(NULL, "r1001hs", "r1001hs/r1001hs.tb5");
}
END_TEST

START_TEST(names_that_are_no_numbers)
{
	static const char *const names[] = {"r",      "rs",     "r5h",    "r5hsx",      "r5HS",
					    "x005hs", "r-05hs", "r 05hs", "r005hs.tb5", "r05hs"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(mkdir(names[i], 0777), 0);
	mkdir("r99999999999999999999hs", 0777);
	assert_created(NULL, "r000hs", "r000hs/r000hs.tb5");
}
END_TEST

/* A file of that name counts too. */
START_TEST(number_taken_by_a_file)
{
	touch("r000hs");
	assert_created(NULL, "r001hs", "r001hs/r001hs.tb5");
}
END_TEST

START_TEST(named)
{
	assert_created("out", "out", "out/out.tb5");
	ck_assert(result.created);
	assert_created("other///", "other", "other/other.tb5");
	mkdir("deep", 0777);
	assert_created("deep/er", "deep/er", "deep/er/er.tb5");
}
END_TEST

START_TEST(existing_is_taken)
{
	mkdir("out", 0777);
	touch("out/notes.txt");
	assert_created("out", "out", "out/out.tb5");
	ck_assert(!result.created);
	result_remove(&result);
	ck_assert(exists("out/notes.txt"));
}
END_TEST

START_TEST(existing_without_a_name)
{
	assert_created(".", ".", "./result.tb5");
	mkdir("out", 0777);
	assert_created("out/..", "out/..", "out/../result.tb5");
}
END_TEST

START_TEST(existing_result_is_kept)
{
	mkdir("out", 0777);
	touch("out/out.tb5");
	assert_refused("out", "already holds a result");
	ck_assert(exists("out/out.tb5"));
}
END_TEST

/* Also where the directory is read through descriptor 0. */
START_TEST(existing_result_without_an_input)
{
	mkdir("out", 0777);
	touch("out/out.tb5");
	ck_assert_int_eq(dup2(STDOUT_FILENO, STDIN_FILENO), STDIN_FILENO);
	loses_input = true;
	assert_refused("out", "already holds a result");
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
}
END_TEST

/* Not even one that leads nowhere is written through. */
START_TEST(existing_link_is_kept)
{
	mkdir("out", 0777);
	ck_assert_int_eq(symlink("/tmp/no such place/file", "out/out.tb5"), 0);
	assert_refused("out", "already holds a result");
	ck_assert(exists("out/out.tb5"));
}
END_TEST

START_TEST(file_in_its_place)
{
	touch("out");
	assert_refused("out", "a file is there");
	ck_assert(exists("out"));
}
END_TEST

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
	assert_created("own", "own", "own/own.tb5");
	ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
	assert_refused("dangling", "leads nowhere");
	ck_assert(!exists("nowhere"));
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(symlink("real", "link"), 0);
	ck_assert_int_eq(lchown("link", 65534, 65534), 0);
	mkdir("theirs", 0777);
	ck_assert_int_eq(chown("theirs", 65534, 65534), 0);
	ck_assert_int_eq(symlink("theirs", "to-theirs"), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	failure = (struct failure){0};
	assert_refused("link", "link that another user made");
	failure = (struct failure){0};
	assert_refused("theirs", "belongs to another user");
	failure = (struct failure){0};
	assert_refused("to-theirs", "belongs to another user");
	failure = (struct failure){0};
	ck_assert_int_eq(try_as_other_user("theirs"), 0);
}
END_TEST

static void make_held(void)
{
	assert_created("out", "out", "out/out.tb5");
	touch(result.through);
	ck_assert_int_eq(result_hold(&result, &failure), 0);
	ck_assert_int_eq(result_check(&result, &failure), 0);
	ck_assert_str_eq(result.file, "out/out.tb5");
}

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
	assert_refused("out", "just after it was made");
	ck_assert_int_eq(rmdir("victim"), 0);
	ck_assert_uint_eq(mode_of("moved away"), 0700);
	ck_assert(exists("out"));
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
	touch(result.through);
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
	assert_created("out", "out", "out/out.tb5");
	ck_assert_int_eq(mkdir("victim", 0700), 0);
	put_link("out");
	touch(result.through);
	ck_assert(exists("moved away/out.tb5"));
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
	assert_created("out", "out", "out/out.tb5");
	touch("out/out.tb5");
	ck_assert_int_eq(rename("out", "moved away"), 0);
	ck_assert_int_eq(mkdir("out", 0700), 0);
	touch("out/out.tb5");
	result_remove(&result);
	ck_assert(!exists("moved away/out.tb5"));
	ck_assert(exists("out/out.tb5"));
	ck_assert_int_eq(unlink("out/out.tb5"), 0);
	result_remove(&result);
	ck_assert(exists("out"));
}
END_TEST

START_TEST(links_to_links)
{
	mkdir("real", 0777);
	mkdir("far", 0777);
	ck_assert_int_eq(symlink("../real", "far/second"), 0);
	ck_assert_int_eq(symlink("far/second", "first"), 0);
	assert_created("first", "first", "first/first.tb5");
	touch(result.through);
	ck_assert(exists("real/first.tb5"));
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	assert_refused("loop", "leads nowhere");
}
END_TEST

START_TEST(link_to_a_link_of_others)
{
	mkdir("real", 0777);
	ck_assert_int_eq(symlink("real", "second"), 0);
	ck_assert_int_eq(symlink("second", "first"), 0);
	ck_assert_int_eq(lchown("second", 65534, 65534), 0);
	assert_refused("first", "link that another user made");
}
END_TEST

START_TEST(whose_it_is)
{
	make_held();
	ck_assert(result_is_ours(&result));
	ck_assert_int_eq(chown(result.file, 65534, 65534), 0);
	ck_assert(!result_is_ours(&result));
	result_finish(&result);
}
END_TEST

START_TEST(deleted)
{
	make_held();
	ck_assert_int_eq(unlink("out/out.tb5"), 0);
	touch("out/out.tb5"); /* another one of its name is not it */
	ck_assert_int_eq(result_check(&result, &failure), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "out/out.tb5 was deleted"));
	result_finish(&result);
}
END_TEST

static void assert_moved_to(const char *place, const char *name)
{
	char wanted[4096];
	ck_assert_msg(result_check(&result, &failure) == 0, "%s", failure.text);
	snprintf(wanted, sizeof(wanted), "%s/%s", directory, place);
	ck_assert_str_eq(result.directory, wanted);
	strcat(strcat(wanted, "/"), name);
	ck_assert_str_eq(result.file, wanted);
}

START_TEST(moved)
{
	make_held();
	ck_assert_int_eq(rename("out", "kept"), 0);
	assert_moved_to("kept", "out.tb5");
	mkdir("alone", 0777);
	ck_assert_int_eq(rename("kept/out.tb5", "alone/x.tb5"), 0);
	assert_moved_to("alone", "x.tb5");
	result_finish(&result);
}
END_TEST

START_TEST(no_parent)
{
	assert_refused("no/such/place", "No such file or directory");
}
END_TEST

START_TEST(name_too_long)
{
	char name[6000];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(result_create(&result, name, "hs", &failure), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "too long"));
	failure = (struct failure){0};
	name[300] = '\0'; /* longer than a file system takes */
	ck_assert_int_eq(result_create(&result, name, "hs", &failure), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "File name too long"));
}
END_TEST

/* The longest name of a directory leaves no room for ".tb5"; the file's is shorter. */
START_TEST(longest_name)
{
	char name[256];
	memset(name, 'n', 255);
	name[255] = '\0';
	ck_assert_int_eq(result_create(&result, name, "hs", &failure), 0);
	touch(result.file);
	result_remove(&result);
	ck_assert(!exists(name));
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
	ck_assert(exists("out"));
	ck_assert(!exists("r000hs"));
	ck_assert_int_eq(chmod(".", 0777), 0);
	ck_assert_int_eq(try_as_other_user("new"), 0);
}
END_TEST

START_TEST(removed)
{
	assert_created("out", "out", "out/out.tb5");
	touch("out/out.tb5");
	result_remove(&result);
	ck_assert(!exists("out"));
	assert_created("out", "out", "out/out.tb5");
	touch("out/from somebody else");
	result_remove(&result);
	ck_assert(exists("out/from somebody else"));
}
END_TEST

START_TEST(removed_before_it_was_made)
{
	result = (struct result){0};
	result_remove(&result);
	ck_assert(exists(directory));
}
END_TEST

/* Where the standard input was closed, its descriptor is one as any other. */
START_TEST(descriptors_are_closed)
{
	assert_created("out", "out", "out/out.tb5");
	touch("out/out.tb5");
	int fd = result.place;
	close(STDIN_FILENO);
	ck_assert_int_eq(result_hold(&result, &failure), 0);
	ck_assert_int_eq(result.held, STDIN_FILENO);
	result_finish(&result);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(result.held, -1);
	ck_assert_int_eq(result.place, -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result");
	TCase *tcase = tcase_create("result");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, numbered);
	tcase_add_test(tcase, named_by_the_analysis);
	tcase_add_test(tcase, numbered_after_others);
	tcase_add_test(tcase, numbered_beyond_999);
	tcase_add_test(tcase, names_that_are_no_numbers);
	tcase_add_test(tcase, number_taken_by_a_file);
	tcase_add_test(tcase, named);
	tcase_add_test(tcase, existing_is_taken);
	tcase_add_test(tcase, existing_without_a_name);
	tcase_add_test(tcase, existing_result_is_kept);
	tcase_add_test(tcase, existing_result_without_an_input);
	tcase_add_test(tcase, existing_link_is_kept);
	tcase_add_test(tcase, file_in_its_place);
	tcase_add_test(tcase, for_the_owner_only);
	tcase_add_test(tcase, planted);
	tcase_add_test(tcase, link_in_its_place);
	tcase_add_test(tcase, permissions_of_a_victim);
	tcase_add_test(tcase, moved_before_the_file_is_made);
	tcase_add_test(tcase, removed_where_it_is);
	tcase_add_test(tcase, links_to_links);
	tcase_add_test(tcase, deleted);
	tcase_add_test(tcase, moved);
	tcase_add_test(tcase, no_parent);
	tcase_add_test(tcase, name_too_long);
	tcase_add_test(tcase, longest_name);
	tcase_add_test(tcase, unwritable);
	tcase_add_test(tcase, removed);
	tcase_add_test(tcase, removed_before_it_was_made);
	tcase_add_test(tcase, descriptors_are_closed);
	if (geteuid() == 0) {
		tcase_add_test(tcase, directory_in_its_place);
		tcase_add_test(tcase, link_to_a_link_of_others);
		tcase_add_test(tcase, whose_it_is);
	} else {
		printf("skipped - what other users put there: only root can act for them\n");
	}
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
