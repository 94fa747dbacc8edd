/* Copies of a result's modules: which files are taken, where they go, and what is said of others.
 */
#include "profile/write/writer.h"
#include "tests/collector/folder_fixture.h"
#include "tests/program/program_fixture.h"
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tools/modules/module_copies.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ID_SIZE = 20 };

#define TOMORROW UINT64_C(86400000000000)

#define RESULT "result.tb5"

static const char *folder; /* of the test, and its working directory */
static struct profile_writer *writer;
static struct module_copies copies;
static char *text; /* what is said of the copies */

static void set_up(void)
{
	folder = folder_fixture_make();
}

static void tear_down(void)
{
	free(text);
	folder_fixture_remove();
}

/* A program whose build-id begins with `first`; 0: without a build-id. */
static void make_program(const char *name, uint8_t first, mode_t mode)
{
	struct program_fixture program = program_fixture_make(first, ID_SIZE);
	if (first == 0)
		program.segment.p_type = program.section.sh_type = 0;
	program_fixture_write(name, &program, sizeof(program));
	ck_assert_int_eq(chmod(name, mode), 0);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* started_ns: CLOCK_REALTIME. */
static void begin_result(uint64_t started_ns)
{
	struct profile_run run = {
		.clock = {.tsc = 1,
			  .raw_ns = 1,
			  .real_ns = started_ns,
			  .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	ck_assert_uint_eq(profile_writer_create(RESULT, &run, &writer), VT_SUCCESS);
}

/* An image with code in the result, mapped before the collection. */
static void add_image(const char *name, struct profile_image image)
{
	uint32_t index;
	char path[128];
	snprintf(path, sizeof(path), "%s%s%s", name[0] == '[' ? "" : folder,
		 name[0] == '[' ? "" : "/", name);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, path, &index), VT_SUCCESS);
	struct profile_frame frame = {.image = index, .rva = 0x1234};
	struct profile_module module = {.pid = 100,
					.image = index,
					.start = 0x100000 * index,
					.length = 0x10000,
					.load_ns = PROFILE_TIME_BEFORE,
					.path = path,
					.cs = 0x33,
					.is_first = true};
	ck_assert_uint_eq(profile_writer_add_module(writer, &module), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
}

static void add_program(const char *name, uint8_t first)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .build_id_size = ID_SIZE};
	for (unsigned i = 0; i < ID_SIZE; i++)
		image.build_id[i] = (uint8_t)(first + i);
	add_image(name, image);
}

static void add_by_inode(const char *name)
{
	struct stat status;
	ck_assert_int_eq(stat(name, &status), 0);
	add_image(name, (struct profile_image){.kind = PROFILE_IMAGE_FILE, .inode = status.st_ino});
}

/* Copies to "out", and keeps what is said of it. Returns the error. */
static int copy_modules(void)
{
	struct profile_run_end end = {.command_line = "",
				      .comment = "",
				      .clock = {.tsc = 1000,
						.raw_ns = 1000,
						.tsc_per_ns_q32 = UINT64_C(1) << 32}};
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
	struct profile_reader *reader = known_reader(RESULT);
	int error = module_copies_begin(&copies, "out");
	if (error == 0)
		error = module_copies_write(&copies, reader);
	text = error ? NULL : module_copies_describe(&copies);
	ck_assert_int_eq(error != 0, copies.where != NULL);
	module_copies_end(&copies);
	profile_reader_close(reader);
	return error;
}

static void expect_copy(const char *name, const char *original, mode_t mode)
{
	struct stat status;
	char command[256];
	ck_assert_msg(lstat(name, &status) == 0, "no %s", name);
	ck_assert_uint_eq(status.st_mode, S_IFREG | mode);
	snprintf(command, sizeof(command), "cmp -s '%s' '%s'", name, original);
	ck_assert_int_eq(system(command), 0);
}

static unsigned count_entries(const char *name)
{
	unsigned count = 0;
	DIR *entries = opendir(name);
	ck_assert_ptr_nonnull(entries);
	for (const struct dirent *entry; (entry = readdir(entries));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(entries);
	return count;
}

START_TEST(test_whole_copies)
{
	struct stat status;
	make_program("app", 1, 06755);
	make_program("lib.so", 2, 0644);
	make_program("plain", 0, 0600);
	begin_result(now_ns() + TOMORROW);
	add_program("app", 1);
	add_program("lib.so", 2);
	add_program("lib.so", 2); /* as another process saw it */
	add_by_inode("plain");
	ck_assert_int_eq(copy_modules(), 0);
	expect_copy("out/all/app", "app", 0700);
	expect_copy("out/all/lib.so", "lib.so", 0600);
	expect_copy("out/all/plain", "plain", 0600);
	ck_assert_uint_eq(count_entries("out/all"), 3);
	ck_assert_str_eq(text, "copied 3 of 3 modules to out/all");
	ck_assert_int_eq(stat("out/all", &status), 0);
	ck_assert_uint_eq(status.st_mode, S_IFDIR | 0700);
	ck_assert_int_eq(stat("out", &status), 0);
	ck_assert_uint_eq(status.st_mode, S_IFDIR | 0700);
}
END_TEST

/* Different files of one name are all kept. */
START_TEST(test_one_name)
{
	ck_assert_int_eq(mkdir("a", 0700) | mkdir("b", 0700) | mkdir("c", 0700), 0);
	make_program("a/lib.so", 0x10, 0644);
	make_program("b/lib.so", 0x20, 0644);
	make_program("c/lib.so", 0, 0644);
	begin_result(now_ns() + TOMORROW);
	add_program("a/lib.so", 0x10);
	add_program("b/lib.so", 0x20);
	add_by_inode("c/lib.so");
	ck_assert_int_eq(copy_modules(), 0);
	expect_copy("out/all/lib.so", "a/lib.so", 0600);
	expect_copy("out/all/202122232425262728292a2b2c2d2e2f30313233/lib.so", "b/lib.so", 0600);
	char name[64];
	struct stat status;
	ck_assert_int_eq(stat("c/lib.so", &status), 0);
	snprintf(name, sizeof(name), "out/all/inode-%lu/lib.so", (unsigned long)status.st_ino);
	expect_copy(name, "c/lib.so", 0600);
	ck_assert_uint_eq(count_entries("out/all"), 3);
}
END_TEST

/* What is not there as it was mapped is not copied, and named. */
START_TEST(test_other_files)
{
	char expected[1024];
	make_program("rebuilt", 1, 0755);
	make_program("changed", 0, 0755);
	make_program("nameless", 0, 0755);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	begin_result(now_ns() - TOMORROW);
	add_program("rebuilt", 2);
	add_by_inode("changed");
	add_image("nameless", (struct profile_image){.kind = PROFILE_IMAGE_FILE});
	add_program("gone", 3);
	add_program("fifo", 4);
	add_image("[vdso]", (struct profile_image){.kind = PROFILE_IMAGE_VDSO});
	add_image("[kernel]", (struct profile_image){.kind = PROFILE_IMAGE_KERNEL});
	add_image("1.map", (struct profile_image){.kind = PROFILE_IMAGE_JIT});
	add_image("2.map", (struct profile_image){.kind = PROFILE_IMAGE_JIT});
	ck_assert_int_eq(copy_modules(), 0);
	snprintf(expected, sizeof(expected),
		 "copied 0 of 9 modules to out/all; not: %s/rebuilt (another file by now), "
		 "%s/changed (another file by now), %s/nameless (nothing is known to recognize it "
		 "by), %s/gone (not there), %s/fifo (no regular file), [vdso] (no file), [kernel] "
		 "(no file), anonymous memory of 2 images (no file)",
		 folder, folder, folder, folder, folder);
	ck_assert_str_eq(text, expected);
	ck_assert_uint_eq(count_entries("out/all"), 0);
}
END_TEST

/* Links that others laid: neither followed nor replaced. */
START_TEST(test_planted_links)
{
	static const char *const links[] = {"out/all/lib.so", "out/all"};
	make_program("lib.so", 1, 0644);
	make_program("victim", 9, 0644);
	ck_assert_int_eq(mkdir("out", 0700) | mkdir("elsewhere", 0700), 0);
	ck_assert_int_eq(_i == 0 ? mkdir("out/all", 0700) : 0, 0);
	ck_assert_int_eq(symlinkat(_i == 0 ? "../../victim" : "../elsewhere", AT_FDCWD, links[_i]),
			 0);
	begin_result(now_ns());
	add_program("lib.so", 1);
	ck_assert_int_eq(copy_modules(), _i == 0 ? ELOOP : ENOTDIR);
	make_program("expected", 9, 0644);
	expect_copy("victim", "expected", 0644);
	ck_assert_uint_eq(count_entries("elsewhere"), 0);
	ck_assert_uint_eq(count_entries("out/all"), _i == 0 ? 1 : 0);
}
END_TEST

/* Older copies are replaced; holes stay holes. */
START_TEST(test_replaced)
{
	struct stat status;
	make_program("lib.so", 1, 0644);
	ck_assert_int_eq(truncate("lib.so", 1 << 28), 0);
	ck_assert_int_eq(mkdir("out", 0755) | mkdir("out/all", 0755), 0);
	make_program("out/all/lib.so", 5, 0444);
	begin_result(now_ns());
	add_program("lib.so", 1);
	ck_assert_int_eq(copy_modules(), 0);
	expect_copy("out/all/lib.so", "lib.so", 0600);
	ck_assert_int_eq(stat("out/all/lib.so", &status), 0);
	ck_assert_int_eq(status.st_size, 1 << 28);
	ck_assert_int_lt(status.st_blocks, 1 << 12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("module_copies");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_whole_copies);
	tcase_add_test(cases, test_one_name);
	tcase_add_test(cases, test_other_files);
	tcase_add_loop_test(cases, test_planted_links, 0, 2);
	tcase_add_test(cases, test_replaced);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
