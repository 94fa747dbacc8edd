/* Many small reads of a file through one window. */
#include "unwind/elf/elf.h"
#include "unwind/elf/window.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 20000 };

static uint8_t content[SIZE];
static struct uw_elf elf;
static struct uw_window window;

static void setup(void)
{
	struct stat status;

	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * 3 + i / 256);
	elf = (struct uw_elf){.fd = memfd_create("elf", MFD_CLOEXEC), .size = SIZE};
	ck_assert_int_eq(write(elf.fd, content, SIZE), SIZE);
	ck_assert_int_eq(fstat(elf.fd, &status), 0);
	elf.modified = status.st_mtim;
	window.size = 0;
}

static void teardown(void)
{
	close(elf.fd);
}

/* Reads what is in the file there; the window starts at an offset then. */
static void expect(uint64_t offset, size_t size, uint64_t start)
{
	uint8_t bytes[SIZE];

	ck_assert(uw_window_read(&elf, &window, offset, bytes, size));
	ck_assert_mem_eq(bytes, content + offset, size);
	ck_assert_uint_eq(window.offset, start);
}

START_TEST(moves)
{
	expect(5000, 100, 4096);
	ck_assert_uint_eq(window.size, UW_WINDOW_SIZE);
	expect(4096, 3000, 4096);
	expect(8191, 1, 4096);
	expect(8191, 2, 7168);
	expect(7168, 1, 7168);
	expect(7167, 1, 6144);
	expect(0, 8, 0);
	expect(19999, 1, 19456);
	ck_assert_uint_eq(window.size, SIZE - 19456);
	expect(20000, 0, 19456);
}
END_TEST

START_TEST(larger_than_the_window)
{
	expect(100, 8, 0);
	expect(9000, 3072, 8192);
	expect(200, 3073, 8192); /* beside it */
	expect(0, SIZE, 8192);
}
END_TEST

START_TEST(beyond_the_end)
{
	uint8_t bytes[16];

	ck_assert(!uw_window_read(&elf, &window, 19990, bytes, 11));
	ck_assert(!uw_window_read(&elf, &window, 20001, bytes, 0));
	ck_assert(!uw_window_read(&elf, &window, UINT64_MAX, bytes, 2));
	expect(19990, 10, 19456);
	ck_assert(!uw_window_read(&elf, &window, 19990, bytes, 11));
}
END_TEST

/* A window that could not be read holds nothing. */
START_TEST(file_that_shrinks)
{
	uint8_t bytes[16];

	expect(5000, 10, 4096);
	ck_assert_int_eq(ftruncate(elf.fd, 6000), 0);
	for (int i = 0; i < 2; i++)
		ck_assert(!uw_window_read(&elf, &window, 10000, bytes, 10));
}
END_TEST

START_TEST(image_in_memory)
{
	struct uw_elf image = {.fd = -1, .image = content, .size = SIZE};
	uint8_t bytes[16];

	ck_assert(uw_window_read(&image, &window, 5000, bytes, 16));
	ck_assert_mem_eq(bytes, content + 5000, 16);
	ck_assert_uint_eq(window.size, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind elf window");
	TCase *tcase = tcase_create("window");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, moves);
	tcase_add_test(tcase, larger_than_the_window);
	tcase_add_test(tcase, beyond_the_end);
	tcase_add_test(tcase, file_that_shrinks);
	tcase_add_test(tcase, image_in_memory);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
