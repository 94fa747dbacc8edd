/* Result directories: numbered, named, taken, and not to be had. */
#include "collector/result/result.h"
#include "profile/base/place.h"
#include "tests/collector/result_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

START_TEST(numbered)
{
	result_fixture_assert_created(NULL, "r000hs", "r000hs/r000hs.tb5");
	result_fixture_assert_created(NULL, "r001hs", "r001hs/r001hs.tb5");
	result_fixture_assert_created(NULL, "r002hs", "r002hs/r002hs.tb5");
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
	result_fixture_assert_created(NULL, "r008hs", "r008hs/r008hs.tb5");
}
END_TEST

START_TEST(numbered_beyond_999)
{
	mkdir("r999hs", 0777);
	result_fixture_assert_created(NULL, "r1000hs", "r1000hs/r1000hs.tb5");
	result_fixture_assert_created(NULL, "r1001hs", "r1001hs/r1001hs.tb5");
}
END_TEST

START_TEST(names_that_are_no_numbers)
{
	static const char *const names[] = {"r",      "rs",     "r5h",    "r5hsx",      "r5HS",
					    "x005hs", "r-05hs", "r 05hs", "r005hs.tb5", "r05hs"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(mkdir(names[i], 0777), 0);
	mkdir("r99999999999999999999hs", 0777);
	result_fixture_assert_created(NULL, "r000hs", "r000hs/r000hs.tb5");
}
END_TEST

/* A file of that name counts too. */
START_TEST(number_taken_by_a_file)
{
	result_fixture_touch("r000hs");
	result_fixture_assert_created(NULL, "r001hs", "r001hs/r001hs.tb5");
}
END_TEST

START_TEST(named)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	ck_assert(result.created);
	result_fixture_assert_created("other///", "other", "other/other.tb5");
	mkdir("deep", 0777);
	result_fixture_assert_created("deep/er", "deep/er", "deep/er/er.tb5");
}
END_TEST

START_TEST(existing_is_taken)
{
	mkdir("out", 0777);
	result_fixture_touch("out/notes.txt");
	result_fixture_assert_created("out", "out", "out/out.tb5");
	ck_assert(!result.created);
	result_remove(&result);
	ck_assert(result_fixture_exists("out/notes.txt"));
}
END_TEST

START_TEST(existing_without_a_name)
{
	result_fixture_assert_created(".", ".", "./result.tb5");
	mkdir("out", 0777);
	result_fixture_assert_created("out/..", "out/..", "out/../result.tb5");
}
END_TEST

START_TEST(existing_result_is_kept)
{
	mkdir("out", 0777);
	result_fixture_touch("out/out.tb5");
	result_fixture_assert_refused("out", "already holds a result");
	ck_assert(result_fixture_exists("out/out.tb5"));
}
END_TEST

/* Also where the directory is read through descriptor 0. */
START_TEST(existing_result_without_an_input)
{
	mkdir("out", 0777);
	result_fixture_touch("out/out.tb5");
	ck_assert_int_eq(dup2(STDOUT_FILENO, STDIN_FILENO), STDIN_FILENO);
	loses_input = true;
	result_fixture_assert_refused("out", "already holds a result");
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
}
END_TEST

/* Not even one that leads nowhere is written through. */
START_TEST(existing_link_is_kept)
{
	mkdir("out", 0777);
	ck_assert_int_eq(symlink("/tmp/no such place/file", "out/out.tb5"), 0);
	result_fixture_assert_refused("out", "already holds a result");
	ck_assert(result_fixture_exists("out/out.tb5"));
}
END_TEST

START_TEST(file_in_its_place)
{
	result_fixture_touch("out");
	result_fixture_assert_refused("out", "a file is there");
	ck_assert(result_fixture_exists("out"));
}
END_TEST

static void make_held(void)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch(result.through);
	ck_assert_int_eq(result_hold(&result, &failure), 0);
	ck_assert_int_eq(result_check(&result, &failure), 0);
	ck_assert_str_eq(result.file, "out/out.tb5");
}

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
	result_fixture_touch("out/out.tb5"); /* another one of its name is not it */
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
	result_fixture_assert_refused("no/such/place", "No such file or directory");
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
	result_fixture_touch(result.file);
	result_remove(&result);
	ck_assert(!result_fixture_exists(name));
}
END_TEST

START_TEST(removed)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/out.tb5");
	result_remove(&result);
	ck_assert(!result_fixture_exists("out"));
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/from somebody else");
	result_remove(&result);
	ck_assert(result_fixture_exists("out/from somebody else"));
}
END_TEST

/* A custom collector's files go with a directory that we made, and with no other. */
START_TEST(removed_with_custom_files)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/" RESULT_CUSTOM_LOG);
	result_fixture_touch("out/x-hostname-y.csv");
	result_remove(&result);
	ck_assert(!result_fixture_exists("out"));
	ck_assert_int_eq(mkdir("out", 0700), 0);
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/x-hostname-y.csv");
	result_remove(&result);
	ck_assert(result_fixture_exists("out/x-hostname-y.csv"));
}
END_TEST

START_TEST(removed_before_it_was_made)
{
	result = (struct result){0};
	result_remove(&result);
	ck_assert(result_fixture_exists(directory));
}
END_TEST

/* Where the standard input was closed, its descriptor is one as any other. */
START_TEST(descriptors_are_closed)
{
	result_fixture_assert_created("out", "out", "out/out.tb5");
	result_fixture_touch("out/out.tb5");
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

	tcase_add_checked_fixture(tcase, result_fixture_setup, result_fixture_teardown);
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
	tcase_add_test(tcase, deleted);
	tcase_add_test(tcase, moved);
	tcase_add_test(tcase, no_parent);
	tcase_add_test(tcase, name_too_long);
	tcase_add_test(tcase, longest_name);
	tcase_add_test(tcase, removed);
	tcase_add_test(tcase, removed_with_custom_files);
	tcase_add_test(tcase, removed_before_it_was_made);
	tcase_add_test(tcase, descriptors_are_closed);
	if (geteuid() == 0) {
		tcase_add_test(tcase, whose_it_is);
	} else {
		printf("skipped - whose a result is: only root can give it away\n");
	}
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
