/* Where separate debug files are looked for, and which are taken. */
#include "program/debug_file.h"
#include "tests/collector/folder_fixture.h"
#include "tests/program/program_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <zlib.h>

static const char *folder;
static char program[64];
static struct program_fixture file;
static struct debug_file_search search;

/* What was handed over. */
static unsigned asked;
static char taken[PATH_MAX];
static int refusal; /* of the files */

static int take(void *user, int fd, const struct stat *status, const char *path)
{
	struct stat own;
	ck_assert_ptr_eq(user, &search);
	ck_assert_int_eq(fstat(fd, &own), 0);
	ck_assert_uint_eq(own.st_ino, status->st_ino);
	ck_assert_str_eq(strncmp(path, folder, strlen(folder)) ? path : "", "");
	asked++;
	strcpy(taken, path + strlen(folder));
	return refusal;
}

static void setup(void)
{
	folder = folder_fixture_make();
	snprintf(program, sizeof(program), "%s/bin/program", folder);
	ck_assert_int_eq(system("mkdir -p bin/.debug debug/.build-id/05 .dwz bin/.dwz"), 0);
	file = program_fixture_make(5, 3);
	program_fixture_write("bin/program", &file, sizeof(file));
	search = (struct debug_file_search){.directories = DEBUG_FILE_DIRECTORIES,
					    .file = program,
					    .owner = DEBUG_FILE_ANYBODY,
					    .id = file.id,
					    .id_size = 3,
					    .name = "link",
					    .checked_max = 4096};
	asked = 0;
	refusal = 0;
}

/* The path below the folder; "": none. */
static const char *find(void)
{
	taken[0] = '\0';
	bool found = debug_file_open(&search, take, &search);
	ck_assert(found == (taken[0] && refusal == 0));
	return taken;
}

static void put(const char *path)
{
	program_fixture_write(path, &file, sizeof(file));
}

/* Later places first: each is found as long as no earlier one has a file. */
START_TEST(order_of_places)
{
	char directories[128];
	char far[128];
	snprintf(directories, sizeof(directories), "+:-.debug:%s/debug", folder);
	search.directories = directories;
	ck_assert_str_eq(find(), "");
	snprintf(far, sizeof(far), "mkdir -p debug%s/bin", folder);
	ck_assert_int_eq(system(far), 0);
	snprintf(far, sizeof(far), "debug%s/bin/link", folder);
	put(far);
	ck_assert_str_eq(find() + 1, far);
	put("bin/.debug/link");
	ck_assert_str_eq(find(), "/bin/.debug/link");
	put("bin/link");
	ck_assert_str_eq(find(), "/bin/link");
	put("debug/.build-id/05/0607.debug");
	ck_assert_str_eq(find(), "/debug/.build-id/05/0607.debug");
}
END_TEST

START_TEST(without_a_link)
{
	search.name = NULL;
	put("bin/link");
	ck_assert_str_eq(find(), "");
	put("bin/program.debug");
	ck_assert_str_eq(find(), "/bin/program.debug");
	search.file = "program";
	ck_assert_str_eq(find(), "");
	search.file = "";
	ck_assert_str_eq(find(), "");
}
END_TEST

START_TEST(shared_dwarf)
{
	char directories[128];
	snprintf(directories, sizeof(directories), ":%s", folder);
	search.directories = directories;
	search.is_shared = true;
	search.name = "../../x/.dwz/part/link";
	put(".dwz/link");
	ck_assert_str_eq(find(), "");
	ck_assert_int_eq(system("mkdir .dwz/part bin/.dwz/part"), 0);
	put(".dwz/part/link");
	ck_assert_str_eq(find(), "/.dwz/part/link");
	put("bin/.dwz/part/link");
	ck_assert_str_eq(find(), "/bin/.dwz/part/link");
	search.name = "../.dwz/../../link";
	ck_assert_str_eq(find(), "/.dwz/link");
	search.name = "/.dwz/link/..";
	ck_assert_str_eq(find(), "");
}
END_TEST

/* The name leads nowhere but into the directories. */
START_TEST(hostile_names)
{
	static const char *const names[] = {"",       ".",         "..",          "/link",
					    "./link", "x/../link", ".debug/link", "link/"};
	char *endless = malloc(2 * PATH_MAX);
	put("bin/link");
	put("bin/.debug/link");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		search.name = names[i];
		ck_assert_str_eq(find(), "");
	}
	memset(endless, 'x', 2 * PATH_MAX - 1);
	endless[2 * PATH_MAX - 1] = '\0';
	search.name = endless;
	ck_assert_str_eq(find(), "");
	endless[PATH_MAX - 10] = '\0';
	ck_assert_str_eq(find(), "");
	search.name = "link";
	search.directories = endless;
	ck_assert_str_eq(find(), "");
	endless[0] = '/';
	ck_assert_str_eq(find(), "");
	ck_assert_uint_eq(asked, 0);
	free(endless);
}
END_TEST

START_TEST(sizes_of_build_ids)
{
	static const size_t sizes[] = {0, 1, 2, 65, SIZE_MAX};
	char directories[64];
	snprintf(directories, sizeof(directories), "%s/debug", folder);
	search.directories = directories;
	put("debug/.build-id/05/0607.debug");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		search.id_size = sizes[i];
		ck_assert_str_eq(find(), "");
	}
}
END_TEST

START_TEST(another_build)
{
	file.id[2]++;
	put("bin/link");
	file.id[2]--;
	ck_assert_str_eq(find(), "");
	file = program_fixture_make(5, 4); /* the same beginning */
	put("bin/link");
	ck_assert_str_eq(find(), "");
	program_fixture_write("bin/link", "no program at all, but some text", 32);
	search.has_crc = true;
	search.crc = (uint32_t)crc32(0, (const uint8_t *)"no program at all, but some text", 32);
	search.id_size = 0;
	ck_assert_str_eq(find(), "");
	ck_assert_uint_eq(asked, 0);
}
END_TEST

/* Loop: the file or the program has no build-id: its checksum tells, each byte of it. */
START_TEST(checksum)
{
	file = program_fixture_make(5, _i == 0 ? 0 : 3);
	search.id_size = _i == 0 ? 3 : 0;
	search.has_crc = true;
	search.crc = (uint32_t)crc32(0, (const uint8_t *)&file, sizeof(file));
	put("bin/link");
	ck_assert_str_eq(find(), "/bin/link");
	search.checked_max = sizeof(file);
	ck_assert_str_eq(find(), "/bin/link");
	search.checked_max = sizeof(file) - 1;
	ck_assert_str_eq(find(), "");
	search.checked_max = sizeof(file);
	search.has_crc = false;
	ck_assert_str_eq(find(), "");
	search.has_crc = true;
	((uint8_t *)&file)[sizeof(file) - 1] ^= 1;
	put("bin/link");
	ck_assert_str_eq(find(), "");
	program_fixture_write("bin/link", &file, sizeof(file) - 1);
	ck_assert_str_eq(find(), "");
}
END_TEST

/* A checksum that is right is not enough where both have build-ids, which differ. */
START_TEST(checksum_of_another_build)
{
	file.id[2]++;
	search.id = (const uint8_t[]){5, 6, 7};
	search.has_crc = true;
	search.crc = (uint32_t)crc32(0, (const uint8_t *)&file, sizeof(file));
	put("bin/link");
	ck_assert_str_eq(find(), "");
}
END_TEST

/* A link may have the program's own name. */
START_TEST(program_itself)
{
	search.name = "program";
	ck_assert_str_eq(find(), "");
	ck_assert_int_eq(link("bin/program", "bin/.debug/program"), 0);
	ck_assert_str_eq(find(), "");
	ck_assert_int_eq(unlink("bin/.debug/program"), 0);
	put("bin/.debug/program");
	ck_assert_str_eq(find(), "/bin/.debug/program");
}
END_TEST

/* One that is of no use is no reason to stop. */
START_TEST(next_place)
{
	put("bin/link");
	put("bin/.debug/link");
	refusal = ENOENT;
	find();
	ck_assert_uint_eq(asked, 2);
}
END_TEST

/* To open some things is to do something. */
START_TEST(no_regular_files)
{
	char events[256];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ck_assert_int_eq(mkfifo("bin/link", 0600), 0);
	ck_assert_int_eq(mkdir("bin/.debug/link", 0700), 0);
	ck_assert_int_ge(inotify_add_watch(watch, "bin/link", IN_OPEN), 0);
	ck_assert_str_eq(find(), "");
	ck_assert_int_eq(read(watch, events, sizeof(events)), -1);
	close(watch);
}
END_TEST

START_TEST(files_of_others)
{
	if (getuid() != 0) {
		puts("skipped - debug files of others: only root can give files away");
		return;
	}
	put("bin/link");
	search.owner = 0;
	ck_assert_str_eq(find(), "/bin/link");
	ck_assert_int_eq(chown("bin/link", 1234, 1234), 0);
	ck_assert_str_eq(find(), "");
	search.owner = 1235;
	ck_assert_str_eq(find(), "");
	search.owner = 1234;
	ck_assert_str_eq(find(), "/bin/link");
	search.owner = DEBUG_FILE_ANYBODY;
	ck_assert_str_eq(find(), "/bin/link");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug_file");
	TCase *tcase = tcase_create("debug_file");
	tcase_add_checked_fixture(tcase, setup, folder_fixture_remove);
	tcase_add_test(tcase, order_of_places);
	tcase_add_test(tcase, without_a_link);
	tcase_add_test(tcase, shared_dwarf);
	tcase_add_test(tcase, hostile_names);
	tcase_add_test(tcase, sizes_of_build_ids);
	tcase_add_test(tcase, another_build);
	tcase_add_loop_test(tcase, checksum, 0, 2);
	tcase_add_test(tcase, checksum_of_another_build);
	tcase_add_test(tcase, program_itself);
	tcase_add_test(tcase, next_place);
	tcase_add_test(tcase, no_regular_files);
	tcase_add_test(tcase, files_of_others);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
