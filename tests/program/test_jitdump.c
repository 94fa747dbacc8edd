/* The records of made-up jitdumps: whole ones, those that lie, and files that end anywhere. */
#include "program/jitdump.h"
#include "tests/program/jitdump_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static struct jitdump dump;
static struct jitdump_record record;

static void make_file(void)
{
	fd = memfd_create("jitdump", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
}

static void close_file(void)
{
	close(fd);
}

static void assert_name(const char *expected)
{
	char name[JITDUMP_NAME_MAX];
	jitdump_name(&dump, &record, name);
	ck_assert_str_eq(name, expected);
}

START_TEST(whole_records)
{
	fixture_begin(fd, 0, 0);
	fixture_load(fd, 10, 0x1000, 0x20, 7, "first");
	fixture_record(fd, JITDUMP_UNWINDING, 11, 40, "123456789012345678901234", 24);
	fixture_record(fd, 99, 12, 16, "", 0);
	fixture_move(fd, 13, 0x1000, 0x3000, 0x20, 7);
	fixture_load(fd, 14, 0x2000, 0x300000, 8, "large");
	fixture_record(fd, JITDUMP_CLOSE, 15, 16, "", 0);
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(!dump.has_counter);
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, JITDUMP_LOAD);
	ck_assert_uint_eq(record.time, 10);
	ck_assert_uint_eq(record.address, 0x1000);
	ck_assert_uint_eq(record.size, 0x20);
	ck_assert_uint_eq(record.index, 7);
	assert_name("first");
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, JITDUMP_UNWINDING);
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, 99);
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, JITDUMP_MOVE);
	ck_assert_uint_eq(record.address, 0x3000);
	ck_assert_uint_eq(record.size, 0x20);
	ck_assert_uint_eq(record.index, 7);
	ck_assert(jitdump_next(&dump, &record));
	assert_name("large");
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, JITDUMP_CLOSE);
	ck_assert(!jitdump_next(&dump, &record));
	ck_assert_uint_eq(dump.count, 6);
}
END_TEST

/* Another byte order, another version, no header, an empty file, text. */
START_TEST(other_files)
{
	static const uint32_t heads[][10] = {
		{0x4454694a, 0x01000000, 0x28000000, 0x3e000000},
		{0x4a695444, 2, 40, 62},
		{0x4a695444, 1, 39, 62},
		{0x4a695444, 1, 41, 62},
		{0x7f454c46, 1, 40, 62},
	};
	ck_assert(!jitdump_open(&dump, fd));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		ck_assert_int_eq(pwrite(fd, heads[i], sizeof(heads[i]), 0), sizeof(heads[i]));
		ck_assert_msg(!jitdump_open(&dump, fd), "%zu", i);
	}
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	fixture_begin(fd, 1, 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	fixture_begin(fd, 1, 0);
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(dump.has_counter);
	ck_assert(!jitdump_next(&dump, &record));
	ck_assert_int_eq(ftruncate(fd, 39), 0);
	ck_assert(!jitdump_open(&dump, fd));
}
END_TEST

/* Whatever the size: the records that are whole, and no others. */
START_TEST(ends_anywhere)
{
	fixture_begin(fd, 0, 0);
	fixture_load(fd, 1, 0x1000, 5, 1, "a");
	off_t first = lseek(fd, 0, SEEK_CUR);
	fixture_move(fd, 2, 0x1000, 0x2000, 5, 1);
	off_t second = lseek(fd, 0, SEEK_CUR);
	for (off_t size = second; size >= 40; size--) {
		ck_assert_int_eq(ftruncate(fd, size), 0);
		ck_assert(jitdump_open(&dump, fd));
		unsigned count = 0;
		while (jitdump_next(&dump, &record))
			count++;
		ck_assert_uint_eq(count, (size >= first) + (size >= second));
	}
}
END_TEST

/* The file shrinks, or gets other bytes, behind the reader's back. */
START_TEST(shrinks_while_read)
{
	fixture_begin(fd, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		fixture_load(fd, i, 0x1000, JITDUMP_WINDOW, i, "long code");
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_int_eq(ftruncate(fd, 60), 0);
	ck_assert(!jitdump_next(&dump, &record));
	dump.window_size = 0;
	assert_name("");
}
END_TEST

START_TEST(contradictions)
{
	uint64_t numbers[6] = {0, 0x1000, 0x1000, 0, 1};
	fixture_begin(fd, 0, 0);
	fixture_record(fd, JITDUMP_LOAD, 1, 16 + 39, numbers, 39); /* too short */
	fixture_record(fd, JITDUMP_LOAD, 2, 16 + 40, numbers, 40); /* no code */
	numbers[2] = UINT64_MAX - 2;
	numbers[3] = 4;
	fixture_record(fd, JITDUMP_LOAD, 3, 16 + 40, numbers, 40); /* beyond the addresses */
	fixture_record(fd, JITDUMP_MOVE, 4, 16 + 47, numbers, 47);
	fixture_record(fd, JITDUMP_LINES, 5, 16 + 15, numbers, 15);
	numbers[3] = 3;
	fixture_record(fd, JITDUMP_LOAD, 6, 16 + 40, numbers, 40); /* no room for a name */
	fixture_record(fd, JITDUMP_LOAD, 7, 16 + 48, numbers, 48); /* five zero bytes for it */
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.time, 6);
	assert_name("");
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.time, 7);
	assert_name("");
	ck_assert(!jitdump_next(&dump, &record));
	/* A record shorter than its header ends the reading. */
	fixture_record(fd, JITDUMP_CLOSE, 8, 15, "", 0);
	fixture_record(fd, JITDUMP_CLOSE, 9, 16, "", 0);
	ck_assert(jitdump_open(&dump, fd));
	unsigned count = 0;
	while (jitdump_next(&dump, &record))
		count++;
	ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(long_names)
{
	char name[3 * JITDUMP_NAME_MAX], expected[JITDUMP_NAME_MAX];
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memset(expected, 'n', sizeof(expected));
	expected[sizeof(expected) - 1] = '\0';
	fixture_begin(fd, 0, 0);
	fixture_load(fd, 1, 0x1000, 4, 1, name);
	fixture_load(fd, 2, 0x1000, 4, 1, "next");
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(jitdump_next(&dump, &record));
	assert_name(expected);
	ck_assert(jitdump_next(&dump, &record));
	assert_name("next");
}
END_TEST

static void assert_line(uint64_t address, const char *file, uint32_t line)
{
	char found[JITDUMP_NAME_MAX];
	uint32_t number = 0;
	ck_assert_int_eq(jitdump_line(&dump, &record, address, found, &number), file != NULL);
	if (!file)
		return;
	ck_assert_str_eq(found, file);
	ck_assert_uint_eq(number, line);
}

static void read_lines(void)
{
	ck_assert(jitdump_open(&dump, fd));
	ck_assert(jitdump_next(&dump, &record));
	ck_assert_uint_eq(record.kind, JITDUMP_LINES);
	record.size = 0x100;
}

START_TEST(lines)
{
	static const struct fixture_line of_code[] = {{0x1010, 3, "a.c"},
						      {0x1020, 4, "\xff"},
						      {0x1018, 7, "b.h"},
						      {0x1100, 9, "\xff"}};
	fixture_begin(fd, 0, 0);
	fixture_lines(fd, 1, 0x1000, of_code, 4);
	read_lines();
	assert_line(0x100f, NULL, 0);
	assert_line(0x1010, "a.c", 3);
	assert_line(0x1017, "a.c", 3);
	assert_line(0x1018, "b.h", 7);
	assert_line(0x1020, "a.c", 4);
	assert_line(0x1100, "b.h", 9);
	record.count = 2; /* fewer than there are */
	assert_line(0x1018, "a.c", 3);
	record.count = UINT64_MAX;
	assert_line(0x1010, "a.c", 3);
}
END_TEST

/* V8's lie behind by an ELF header, and may have a file name of freed memory. */
START_TEST(lines_of_v8)
{
	static const struct fixture_line good[] = {{0x1050, 3, "a.js"}};
	static const struct fixture_line bad_name[] = {{0x1050, 3, "a\x04.js"},
						       {0x1060, 4, "a.js"}};
	static const struct fixture_line outside[] = {{0x1050, 3, "a.js"}, {0x9000, 4, "a.js"}};
	const struct fixture_line *const cases[] = {bad_name, outside};
	fixture_begin(fd, 0, 0xdeadbeef);
	fixture_lines(fd, 1, 0x1000, good, 1);
	read_lines();
	assert_line(0x100f, NULL, 0);
	assert_line(0x1010, "a.js", 3);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(ftruncate(fd, 40), 0);
		ck_assert_int_eq(lseek(fd, 0, SEEK_END), 40);
		fixture_lines(fd, 1, 0x1000, cases[i], 2);
		read_lines();
		assert_line(0x1010, NULL, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jitdump");
	TCase *tcase = tcase_create("records");

	tcase_add_checked_fixture(tcase, make_file, close_file);
	tcase_add_test(tcase, whole_records);
	tcase_add_test(tcase, other_files);
	tcase_add_test(tcase, ends_anywhere);
	tcase_add_test(tcase, shrinks_while_read);
	tcase_add_test(tcase, contradictions);
	tcase_add_test(tcase, long_names);
	tcase_add_test(tcase, lines);
	tcase_add_test(tcase, lines_of_v8);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
