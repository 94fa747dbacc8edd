/* Images: their files, which are missing, hostile, changed, or more than may be open. */
#include "collector/image/image.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/image_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A source that names this test's program by its build-id, under another path. */
static struct image_source source_by_build_id(const char *path, uint8_t id[static 20])
{
	const char *program = image_fixture_copy_program("program", SIZE_MAX);
	struct uw_module *module;
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.build_id = id;
	source.build_id_size = (uint32_t)uw_module_build_id(module, id, 20);
	uw_module_unref(module);
	return source;
}

/* A process that ended too early is no reason to do without the file for the rest of the run. */
START_TEST(file_that_is_there_later)
{
	char path[64];
	uint8_t id[20] = {0};
	snprintf(path, sizeof(path), "%s/later", directory);
	struct image_source source = source_by_build_id(path, id);
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert(image_is_unread(table, 1));
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS + 1), 1); /* not there yet */
	image_fixture_copy_program("later", SIZE_MAX);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS + 1),
			  1); /* once for each process */
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS + 2), 2);
	ck_assert(!image_is_unread(table, 2));
	ck_assert_ptr_nonnull(image_module(table, 2));
	ck_assert_ptr_null(image_module(table, 1)); /* what was written of it stays true */
	ck_assert_uint_eq(fake_emit_count(emit, "image 1 kind 1 flags 10 "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "image 2 kind 1 flags 0 "), 1);
	ck_assert_uint_eq(fake_emit_last_image(emit).pid, NO_PROCESS + 2);
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS + 3), 2);
	/* And still where the table had to grow. */
	for (uint32_t i = 0; i < 200; i++) {
		struct image_source other = image_fixture_make_source(NO_PROCESS, "/no/such");
		other.inode = i + 1;
		image_table_get(table, &other);
	}
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_uint_eq(image_fixture_open_through(0, NO_PROCESS), 0);
	ck_assert_uint_eq(image_fixture_open_through(UINT32_MAX, NO_PROCESS), UINT32_MAX);
}
END_TEST

/* A file that was found and is of no use is not read for every process that maps it. */
START_TEST(file_of_no_use)
{
	const char *path = image_fixture_copy_program("data", 60);
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.inode = image_fixture_status_of(path).st_ino;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert(image_is_unread(table, 1));
	image_fixture_copy_program("data", SIZE_MAX);
	ck_assert_uint_eq(image_fixture_status_of(path).st_ino, source.inode);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS + 1), 1);
	ck_assert_ptr_null(image_module(table, 1));
}
END_TEST

static unsigned count_descriptors(void)
{
	unsigned count = 0;
	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Makes a file that starts as a program does. */
static void make_numbered(unsigned i)
{
	char name[32];
	snprintf(name, sizeof(name), "program-%u", i);
	image_fixture_copy_program(name, 16384);
}

/* Its image. */
static uint32_t get_numbered(unsigned i)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/program-%u", directory, i);
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.inode = image_fixture_status_of(path).st_ino;
	return image_table_get(table, &source);
}

/* Files that no walk uses do not stay open without end, and come back. */
START_TEST(many_files)
{
	enum { FILES = 2 * IMAGE_OPEN_MAX };
	unsigned before = count_descriptors();
	for (unsigned i = 1; i <= FILES; i++) {
		make_numbered(i);
		ck_assert_uint_eq(get_numbered(i), i);
		ck_assert_ptr_nonnull(image_module(table, i));
	}
	ck_assert_uint_eq(count_descriptors(), before + IMAGE_OPEN_MAX);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert(!image_is_unread(table, 1));
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	ck_assert_uint_eq(count_descriptors(), before + IMAGE_OPEN_MAX);
	ck_assert_uint_eq(fake_emit_count(emit, "image "), FILES);
	/* The one that was asked for last stays longest. */
	for (unsigned i = 2; i <= IMAGE_OPEN_MAX; i++)
		ck_assert_uint_eq(image_fixture_open_through(i, NO_PROCESS), i);
	ck_assert_ptr_nonnull(image_module(table, 1));
	ck_assert_uint_eq(image_fixture_open_through(FILES, NO_PROCESS), FILES);
	ck_assert_ptr_null(image_module(table, 1));
}
END_TEST

/* Where descriptors run out, those make room that nobody uses; where all are in use, that is told,
 * and the file opened as soon as it can be. */
START_TEST(limit_of_descriptors)
{
	enum { SPARE = 20, FILES = 5 * SPARE };
	struct uw_module *used[FILES];
	unsigned count = 0;
	unsigned i;
	struct rlimit before;
	for (i = 1; i <= FILES; i++)
		make_numbered(i);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit limit = before;
	limit.rlim_cur = count_descriptors() + SPARE;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (i = 1; i <= 3 * SPARE; i++) {
		ck_assert_uint_eq(get_numbered(i), i);
		ck_assert_ptr_nonnull(image_module(table, i));
	}
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
	for (; image_module(table, get_numbered(i)); i++) {
		used[count++] = uw_module_ref(image_module(table, i));
		ck_assert_uint_lt(i, FILES);
	}
	ck_assert_uint_gt(count, SPARE / 2);
	ck_assert_uint_eq(fake_emit_last_image(emit).flags,
			  PROFILE_IMAGE_NOT_OPEN | PROFILE_IMAGE_NO_DESCRIPTOR);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	ck_assert_uint_eq(image_fixture_open_through(i, NO_PROCESS), i);
	while (count > 0)
		uw_module_unref(used[--count]);
	ck_assert_uint_eq(image_fixture_open_through(i, NO_PROCESS), i + 1);
	ck_assert_ptr_nonnull(image_module(table, i + 1));
	ck_assert_uint_eq(fake_emit_last_image(emit).flags, 0);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(missing_file)
{
	struct image_source source =
		image_fixture_make_source(NO_PROCESS, "/no/such/file (deleted)");
	source.inode = 77;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_str_eq(image_path(table, 1), "/no/such/file");
	fake_emit_assert(emit, "image 1 kind 1 flags 11 /no/such/file", 1);
	source.path = "/no/such/file"; /* the same inode as before it was deleted */
	ck_assert_uint_eq(image_table_get(table, &source), 1);
}
END_TEST

/* Loop: what lies there instead of a program. Nothing hangs, nothing is taken for it. */
START_TEST(hostile_files)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/thing", directory);
	switch (_i) {
	case 0:
		ck_assert_int_eq(mkfifo(path, 0666), 0);
		break;
	case 1:
		ck_assert_int_eq(mkdir(path, 0777), 0);
		break;
	case 2:
		ck_assert_int_eq(symlink(path, path), 0);
		break;
	case 3:
		image_fixture_copy_program("thing", 0);
		break;
	case 4:
		image_fixture_copy_program("thing", 63);
		break;
	default:
		ck_assert_int_eq(symlink("/dev/zero", path), 0);
		break;
	}
	struct stat status;
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.inode = lstat(path, &status) == 0 ? status.st_ino : 1;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_uint_eq(fake_emit_last_image(emit).flags, PROFILE_IMAGE_NOT_OPEN);
}
END_TEST

/* Cut off anywhere: an error, or a module; a sanitizer sees the rest. */
START_TEST(truncated_file)
{
	for (size_t size = 64; size < 20000; size += 997) {
		const char *path = image_fixture_copy_program("program", size);
		struct image_source source = image_fixture_make_source(NO_PROCESS, path);
		source.inode = image_fixture_status_of(path).st_ino;
		ck_assert_uint_ne(image_table_get(table, &source), 0);
		unlink(path);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image files");
	TCase *tcase = tcase_create("image files");
	tcase_add_checked_fixture(tcase, image_fixture_setup, image_fixture_teardown);
	tcase_add_test(tcase, file_that_is_there_later);
	tcase_add_test(tcase, file_of_no_use);
	tcase_add_test(tcase, many_files);
	tcase_add_test(tcase, limit_of_descriptors);
	tcase_add_test(tcase, missing_file);
	tcase_add_loop_test(tcase, hostile_files, 0, 6);
	tcase_add_test(tcase, truncated_file);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
