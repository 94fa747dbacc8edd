/* Places that look like a function's start, searched backwards through a window. */
#include "unwind/elf/elf.h"
#include "unwind/functions/starts.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 70000, GUARD = 64 };

static uint8_t code[SIZE];
static struct uw_segment segment = {.file_size = SIZE, .executable = true};
static struct uw_elf elf = {.fd = -1,
			    .image = code,
			    .size = SIZE,
			    .segments = &segment,
			    .segment_count = 1};

/* What follows the window in memory stays as it is, whatever the limit. */
static struct {
	struct uw_starts starts;
	uint8_t guard[GUARD];
} guarded;

/* Functions of 64 bytes: push %rbp; mov %rsp,%rbp; ..., ret, and padding. */
static void setup(void)
{
	for (size_t i = 0; i < SIZE; i++)
		code[i] = 0xcc;
	for (size_t start = 0; start + 64 <= SIZE; start += 64) {
		memcpy(code + start, "\x55\x48\x89\xe5", 4);
		memset(code + start + 4, 0x90, 40);
		code[start + 44] = 0xc3;
	}
	memset(guarded.guard, 0xa5, GUARD);
}

START_TEST(any_limit)
{
	struct uw_lines lines = {NULL};
	uint64_t limit = 2600 + (uint64_t)_i, rva = 60005, start, expected = 60005 / 64 * 64;

	uw_starts_begin(&guarded.starts, &elf, &lines, limit, rva, true);
	for (; uw_starts_next(&guarded.starts, &start); expected -= 64) {
		ck_assert_uint_eq(start, expected);
		ck_assert_uint_le(guarded.starts.size, UW_STARTS_WINDOW);
	}
	ck_assert_uint_le(expected, limit / 64 * 64);
	for (size_t i = 0; i < GUARD; i++)
		ck_assert_uint_eq(guarded.guard[i], 0xa5);
	uw_lines_finish(&lines);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starts");
	TCase *tcase = tcase_create("starts");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, any_limit, 0, 80);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
