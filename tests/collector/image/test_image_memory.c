/* Images from a process's memory: only of ELF files, and within a budget. */
#include "collector/image/image_memory.h"
#include "collector/image/maps.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1024 * 1024, BUDGET = 512 * 1024 * 1024 };

/* A file of SIZE bytes that starts as this program does, with the first byte given, in memory. */
static struct image_source map_file(uint8_t first, void **mapped)
{
	static uint8_t bytes[SIZE];
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("thing", MFD_CLOEXEC);
	ck_assert_int_gt(pread(program, bytes, sizeof(bytes), 0), 0);
	bytes[0] = first;
	ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	*mapped = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(*mapped, MAP_FAILED);
	struct stat status;
	ck_assert_int_eq(fstat(fd, &status), 0);
	close(program);
	close(fd);
	return (struct image_source){.pid = (uint32_t)getpid(),
				     .start = (uintptr_t)*mapped,
				     .end = (uintptr_t)*mapped + SIZE,
				     .path = "/memfd:thing",
				     .inode = status.st_ino,
				     .build_id = (const uint8_t *)""};
}

START_TEST(elf)
{
	void *mapped;
	struct image_source source = map_file(0x7f, &mapped);
	struct image_opened opened = {.budget = BUDGET};
	image_memory_open(&source, &opened);
	ck_assert_ptr_nonnull(opened.module);
	ck_assert_uint_ne(opened.inode, 0);
	ck_assert_uint_eq(opened.budget, BUDGET - SIZE);
	uw_module_unref(opened.module);
	opened.module = NULL;
	munmap(mapped, SIZE);
}
END_TEST

/* Told by four bytes, before anything is copied. */
START_TEST(not_elf)
{
	void *mapped;
	struct image_source source = map_file('x', &mapped);
	struct image_opened opened = {.budget = BUDGET};
	image_memory_open(&source, &opened);
	ck_assert_ptr_null(opened.module);
	ck_assert_uint_eq(opened.budget, BUDGET);
	munmap(mapped, SIZE);
}
END_TEST

START_TEST(beyond_the_budget)
{
	void *mapped;
	struct image_source source = map_file(0x7f, &mapped);
	struct image_opened opened = {.budget = 2 * SIZE - 1};
	image_memory_open(&source, &opened);
	ck_assert_ptr_nonnull(opened.module);
	uw_module_unref(opened.module);
	opened.module = NULL;
	ck_assert_uint_eq(opened.budget, SIZE - 1);
	image_memory_open(&source, &opened);
	ck_assert_ptr_null(opened.module);
	ck_assert_uint_eq(opened.budget, SIZE - 1);
	munmap(mapped, SIZE);
}
END_TEST

/* Loop: what another file's build-id or inode names is not taken, and counts: it was read. */
START_TEST(another_file)
{
	static const uint8_t id[] = {1, 2, 3, 4};
	void *mapped;
	struct image_source source = map_file(0x7f, &mapped);
	struct image_opened opened = {.budget = BUDGET};
	if (_i == 0) {
		source.build_id = id;
		source.build_id_size = sizeof(id);
	} else {
		source.inode++;
	}
	image_memory_open(&source, &opened);
	ck_assert_ptr_null(opened.module);
	ck_assert_uint_eq(opened.budget, BUDGET - SIZE);
	munmap(mapped, SIZE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image_memory");
	TCase *tcase = tcase_create("image_memory");
	tcase_add_test(tcase, elf);
	tcase_add_test(tcase, not_elf);
	tcase_add_test(tcase, beyond_the_budget);
	tcase_add_loop_test(tcase, another_file, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
