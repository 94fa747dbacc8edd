/* Functions that lay at addresses one after the other, by made-up jitdumps. */
#include "tests/program/jitdump_fixture.h"
#include "tests/support/suite.h"
#include "tools/generated/jitdump_lives.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static struct jitdump dump;
static struct jitdump_lives lives;
static struct symbol_address addresses[] = {{.rva = 0x1000}, {.rva = 0x1010}, {.rva = 0x2008}};

static void make_file(void)
{
	fd = memfd_create("jitdump", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	fixture_begin(fd, 0, 0);
}

static void read_lives(void)
{
	ck_assert(jitdump_open(&dump, fd));
	jitdump_lives_read(&dump, addresses, 3, &lives);
}

static void finish(void)
{
	jitdump_lives_finish(&lives);
	for (size_t i = 0; i < 3; i++)
		symbol_address_finish(&addresses[i]);
	close(fd);
}

static void assert_life(size_t index, size_t address, uint64_t time, const char *name,
			uint64_t start, uint32_t line)
{
	ck_assert_uint_lt(index, lives.count);
	const struct jitdump_life *life = &lives.items[index];
	struct symbol_entry *function = &addresses[address].function;
	ck_assert_uint_eq(life->address, address);
	ck_assert_uint_eq(life->time, time);
	ck_assert(jitdump_life_resolve(&dump, life, &addresses[address]));
	ck_assert_str_eq(function->name, name);
	ck_assert_uint_eq(function->start, start);
	ck_assert_uint_eq(function->line, line);
	ck_assert_int_eq(function->file != NULL, line > 0);
}

START_TEST(one_after_the_other)
{
	fixture_load(fd, 30, 0x1008, 0x10, 3, "third");
	fixture_load(fd, 10, 0x1000, 0x10, 1, "first");
	fixture_load(fd, 20, 0x1000, 0x11, 2, "second");
	fixture_load(fd, 40, 0x1011, 0x100, 4, "elsewhere");
	read_lives();
	ck_assert_uint_eq(lives.loads, 4);
	ck_assert_uint_eq(lives.count, 4);
	assert_life(0, 0, 10, "first", 0x1000, 0);
	assert_life(1, 0, 20, "second", 0x1000, 0);
	assert_life(2, 1, 20, "second", 0x1000, 0);
	assert_life(3, 1, 30, "third", 0x1008, 0);
}
END_TEST

/* Lines are those written last for the address before its load; moved code keeps its own. */
START_TEST(lines_and_moves)
{
	static const struct fixture_line old[] = {{0x1000, 1, "old.c"}};
	static const struct fixture_line new[] = {{0x1000, 5, "new.c"}, {0x1010, 6, "new.c"}};
	static const struct fixture_line other[] = {{0x5000, 9, "other.c"}};
	fixture_lines(fd, 5, 0x1000, old, 1);
	fixture_lines(fd, 6, 0x1000, new, 2);
	fixture_lines(fd, 7, 0x5000, other, 1);
	fixture_load(fd, 10, 0x1000, 0x20, 1, "moved");
	fixture_load(fd, 11, 0x5000, 0x20, 2, "other");
	fixture_move(fd, 20, 0x1000, 0x2000, 0x20, 1);
	fixture_move(fd, 30, 0x5000, 0x1000, 0x20, 2);
	fixture_move(fd, 31, 0x6000, 0x1000, 0x20, 77); /* of code that nobody loaded */
	fixture_load(fd, 40, 0x1000, 0x20, 3, "without lines");
	fixture_load(fd, 50, 0x7000, 0x20, 1, "later, of the same index");
	read_lives();
	ck_assert_uint_eq(lives.count, 7);
	assert_life(0, 0, 10, "moved", 0x1000, 5);
	assert_life(1, 0, 30, "other", 0x1000, 9);
	assert_life(2, 0, 40, "without lines", 0x1000, 0);
	assert_life(3, 1, 10, "moved", 0x1000, 6);
	assert_life(6, 2, 20, "moved", 0x2000, 5);
}
END_TEST

/* Without times the file's order counts. */
START_TEST(no_times)
{
	fixture_load(fd, 0, 0x1000, 1, 1, "z");
	fixture_load(fd, 0, 0x1000, 1, 2, "a");
	read_lives();
	assert_life(0, 0, 0, "z", 0x1000, 0);
	assert_life(1, 0, 0, "a", 0x1000, 0);
}
END_TEST

START_TEST(no_name)
{
	struct symbol_address known = {.rva = 0x1000, .function.name = strdup("by another source")};
	fixture_load(fd, 1, 0x1000, 1, 1, "");
	read_lives();
	ck_assert_uint_eq(lives.count, 1);
	ck_assert(!jitdump_life_resolve(&dump, &lives.items[0], &known));
	ck_assert_str_eq(known.function.name, "by another source");
	symbol_address_finish(&known);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jitdump lives");
	TCase *tcase = tcase_create("lives");

	tcase_add_checked_fixture(tcase, make_file, finish);
	tcase_add_test(tcase, one_after_the_other);
	tcase_add_test(tcase, lines_and_moves);
	tcase_add_test(tcase, no_times);
	tcase_add_test(tcase, no_name);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
