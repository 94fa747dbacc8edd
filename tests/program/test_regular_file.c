/* Files that others name: only regular ones are opened, and nothing else is touched. */
#include "program/regular_file.h"
#include "tests/collector/folder_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

static const char *folder;
static char path[64];

static void setup(void)
{
	folder = folder_fixture_make();
	snprintf(path, sizeof(path), "%s/thing", folder);
}

static void write_file(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, "text", 4), 4);
	close(fd);
}

START_TEST(regular)
{
	struct stat status;
	char text[8] = "";
	write_file();
	int fd = regular_file_open(path, 0, &status);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(status.st_size, 4);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "text");
	close(fd);
}
END_TEST

START_TEST(not_there)
{
	struct stat status;
	ck_assert_int_eq(regular_file_open(path, 0, &status), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(symlink(path, path), 0);
	ck_assert_int_eq(regular_file_open(path, 0, &status), -1);
	ck_assert_int_eq(errno, ELOOP);
}
END_TEST

START_TEST(not_regular)
{
	struct stat status;
	ck_assert_int_eq(regular_file_open(folder, 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(regular_file_open("/dev/null", 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
}
END_TEST

/* Regular by name only: what reads them may wait, or take something away. */
START_TEST(made_up)
{
	static const char *const files[] = {"/proc/self/maps", "/proc/kmsg", "/sys/kernel/notes"};
	struct stat status;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ck_assert_int_eq(stat(files[i], &status), 0);
		ck_assert(S_ISREG(status.st_mode));
		ck_assert_int_eq(regular_file_open(files[i], 0, &status), -1);
		ck_assert_int_eq(errno, ENOEXEC);
	}
	/* A link in procfs is what it leads to. */
	int fd = regular_file_open("/proc/self/exe", 0, &status);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(regular_file_open("/proc/self/exe", O_NOFOLLOW, &status), -1);
	write_file();
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(regular_file_open(path, 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
}
END_TEST

/* To open some things is to do something: who waits for a fifo's reader goes on. */
START_TEST(not_even_opened)
{
	struct stat status;
	char events[256];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ck_assert_int_ge(watch, 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
	ck_assert_int_eq(regular_file_open(path, 0, &status), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(read(watch, events, sizeof(events)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(watch);
}
END_TEST

START_TEST(names_that_lead_upwards)
{
	ck_assert(path_leads_up(".."));
	ck_assert(path_leads_up("../a"));
	ck_assert(path_leads_up("a/../b"));
	ck_assert(path_leads_up("/a/.."));
	ck_assert(!path_leads_up("/a/..b/c../.d/..."));
	ck_assert(!path_leads_up(""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("regular_file");
	TCase *tcase = tcase_create("regular_file");
	tcase_add_checked_fixture(tcase, setup, folder_fixture_remove);
	tcase_add_test(tcase, regular);
	tcase_add_test(tcase, not_there);
	tcase_add_test(tcase, not_regular);
	tcase_add_test(tcase, made_up);
	tcase_add_test(tcase, not_even_opened);
	tcase_add_test(tcase, names_that_lead_upwards);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
