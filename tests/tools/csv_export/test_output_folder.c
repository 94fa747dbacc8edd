/* Files that appear in a folder together, or not at all. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/csv_export/output_folder.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];
static struct output_folder folder;

static void set_up(void)
{
	build_set_up();
	snprintf(path, sizeof(path), "%s/out", build_folder);
}

static void remove_file(const char *name)
{
	char whole[96];
	snprintf(whole, sizeof(whole), "%s/%s", path, name);
	unlink(whole);
}

static void tear_down(void)
{
	remove_file("a");
	remove_file("b");
	rmdir(path);
	build_tear_down();
}

/* What is there without a dot in front, and how many names in all. */
static size_t count_names(size_t *all)
{
	size_t shown = 0;
	DIR *entries = opendir(path);
	ck_assert_ptr_nonnull(entries);
	*all = 0;
	for (struct dirent *entry; (entry = readdir(entries)); ++*all)
		shown += entry->d_name[0] != '.';
	closedir(entries);
	return shown;
}

static void write_file(const char *name, const char *text)
{
	output_folder_begin(&folder, name);
	fputs(text, folder.stream);
}

START_TEST(together)
{
	size_t all;
	struct stat status;
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("a", "one");
	write_file("b", "two");
	ck_assert(output_folder_has(&folder, "a") && output_folder_has(&folder, "b"));
	ck_assert(!output_folder_has(&folder, "c"));
	ck_assert_uint_eq(count_names(&all), 0);
	ck_assert_int_eq(output_folder_finish(&folder), 0);
	ck_assert_uint_eq(count_names(&all), 2);
	ck_assert_uint_eq(all, 4);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0700);
}
END_TEST

START_TEST(abandoned)
{
	size_t all;
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("a", "one");
	output_folder_abandon(&folder);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("a", "one");
	output_folder_abandon(&folder);
	ck_assert_uint_eq(count_names(&all), 0);
	ck_assert_uint_eq(all, 2);
}
END_TEST

/* Files begun meanwhile go too, and no more can be begun. */
START_TEST(cleaned)
{
	for (int made_before = 0; made_before <= 1; made_before++) {
		size_t all;
		if (made_before)
			ck_assert_int_eq(mkdir(path, 0755), 0);
		ck_assert_int_eq(output_folder_open(&folder, path), 0);
		write_file("a", "one");
		write_file("b", "two");
		output_folder_clean(&folder);
		output_folder_begin(&folder, "c");
		ck_assert_int_eq(folder.error, ENOENT);
		ck_assert_int_eq(access(path, F_OK), made_before ? 0 : -1);
		if (made_before) {
			ck_assert_uint_eq(count_names(&all), 0);
			ck_assert_uint_eq(all, 2);
		}
		output_folder_abandon(&folder);
	}
}
END_TEST

/* A failure far below ends the program. */
START_TEST(program_ends)
{
	int status;
	size_t all;
	ck_assert_int_eq(mkdir(path, 0755), 0);
	pid_t child = fork();
	if (child == 0) {
		ck_assert_int_eq(output_folder_open(&folder, path), 0);
		write_file("a", "one");
		write_file("b", "two");
		exit(count_names(&all) == 0 && all == 3 ? 3 : 4);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	ck_assert_uint_eq(count_names(&all), 0);
	ck_assert_uint_eq(all, 2);
}
END_TEST

/* An older file stays as it was, and so does what another one holds. */
START_TEST(full_disk)
{
	size_t all;
	struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("a", "older");
	ck_assert_int_eq(output_folder_finish(&folder), 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("a", "newer");
	output_folder_begin(&folder, "b");
	fprintf(folder.stream, "%200s", "");
	ck_assert_int_eq(output_folder_finish(&folder), EFBIG);
	ck_assert_uint_eq(count_names(&all), 1);
	ck_assert_uint_eq(all, 3);
}
END_TEST

START_TEST(no_folder)
{
	char inside[96];
	ck_assert_int_eq(output_folder_open(&folder, build_folder), 0);
	output_folder_abandon(&folder);
	snprintf(inside, sizeof(inside), "%s/none", path);
	ck_assert_int_eq(output_folder_open(&folder, inside), ENOENT);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(output_folder_open(&folder, path), ENOTDIR);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A folder of the name stands where the file is to go. */
START_TEST(name_is_taken)
{
	char taken[96];
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(taken, sizeof(taken), "%s/b", path);
	ck_assert_int_eq(mkdir(taken, 0700), 0);
	ck_assert_int_eq(output_folder_open(&folder, path), 0);
	write_file("b", "text");
	ck_assert_int_eq(output_folder_finish(&folder), EISDIR);
	ck_assert_int_eq(rmdir(taken), 0);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output_folder");
	TCase *tcase = tcase_create("output_folder");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, together);
	tcase_add_test(tcase, abandoned);
	tcase_add_test(tcase, cleaned);
	tcase_add_test(tcase, program_ends);
	tcase_add_test(tcase, full_disk);
	tcase_add_test(tcase, no_folder);
	tcase_add_test(tcase, name_is_taken);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
