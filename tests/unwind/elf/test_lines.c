/* Many small reads of code, from lines that are read once. */
#include "unwind/elf/elf.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 200000, FIRST = 1000, WRITABLE = 190000, FAR = 4096 * 2048 };

static uint8_t content[SIZE];
static struct uw_segment segments[] = {
	/* Two that meet within a line, one that ends within another, and data. */
	{.rva = 4096 + FIRST, .file_size = 100000 - FIRST, .offset = FIRST},
	{.rva = 4096 + 100000, .file_size = 50100, .offset = 100000},
	{.rva = 4096 + WRITABLE, .file_size = 1000, .offset = WRITABLE, .writable = true},
	/* Its lines have the places of the first one's; it overlaps with the last one. */
	{.rva = FAR, .file_size = 100000, .offset = 50000},
	{.rva = FAR + 50000, .file_size = 100000, .offset = 70000},
};
static struct uw_elf elf;
static struct uw_lines lines;

static void setup(void)
{
	struct stat status;

	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * 3 + i / 256);
	elf = (struct uw_elf){.fd = memfd_create("elf", MFD_CLOEXEC),
			      .size = SIZE,
			      .segments = segments,
			      .segment_count = sizeof(segments) / sizeof(segments[0])};
	ck_assert_int_eq(write(elf.fd, content, SIZE), SIZE);
	ck_assert_int_eq(fstat(elf.fd, &status), 0);
	elf.modified = status.st_mtim;
	lines = (struct uw_lines){NULL};
}

static void teardown(void)
{
	uw_lines_finish(&lines);
	close(elf.fd);
}

/* The lines say what the file says, of whatever place. */
static void expect(uint64_t rva, size_t size)
{
	uint8_t bytes[9000], expected[9000];
	bool is_there = uw_elf_read_constant(&elf, rva, expected, size);

	ck_assert_int_eq(uw_lines_read(&lines, &elf, rva, bytes, size), is_there);
	if (is_there)
		ck_assert_mem_eq(bytes, expected, size);
}

START_TEST(as_the_file)
{
	static const size_t sizes[] = {1, 8, 4096, 4097, 8192, 9000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t rva = 4000; rva < 4096 + SIZE; rva += 37) {
			expect(rva, sizes[i]);
			expect(FAR + rva, sizes[i]);
		}
	expect(UINT64_MAX, 8);
	expect(UINT64_MAX - 7, 8);
}
END_TEST

/* Each line is read once: what is written later is not seen. */
START_TEST(reads_once)
{
	uint8_t bytes[8], zeros[8] = {0};

	ck_assert(uw_lines_read(&lines, &elf, 4096 + 8192, bytes, sizeof(bytes)));
	ck_assert_int_eq(pwrite(elf.fd, zeros, sizeof(zeros), 8192 + 16), sizeof(zeros));
	ck_assert(uw_lines_read(&lines, &elf, 4096 + 8192 + 16, bytes, sizeof(bytes)));
	ck_assert_mem_eq(bytes, content + 8192 + 16, sizeof(bytes));
}
END_TEST

/* A file that is shorter than it was gives nothing, now or later. */
START_TEST(shrunk)
{
	uint8_t bytes[8];

	ck_assert_int_eq(ftruncate(elf.fd, 1500), 0);
	ck_assert(!uw_lines_read(&lines, &elf, 4096 + 50000, bytes, sizeof(bytes)));
	ck_assert(!uw_lines_read(&lines, &elf, 4096 + 50000, bytes, sizeof(bytes)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lines");
	TCase *tcase = tcase_create("lines");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, as_the_file);
	tcase_add_test(tcase, reads_once);
	tcase_add_test(tcase, shrunk);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
