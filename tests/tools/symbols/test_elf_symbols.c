/* Which symbol stands for an address: some say little, some are parts of functions. */
#include "tests/support/suite.h"
#include "tools/symbols/resolve.h"
#include <check.h>

struct expected {
	uint64_t rva;
	const char *name; /* NULL: none */
	uint64_t start;
	uint64_t size;
};

static void expect_all(const char *path, const struct expected *expected, size_t count)
{
	struct mapped_file identity = {.path = path};
	struct symbol_address addresses[16] = {0};
	ck_assert_uint_le(count, 16);
	for (size_t i = 0; i < count; i++)
		addresses[i].rva = expected[i].rva;
	ck_assert_int_eq(resolve_file(&identity, NULL, addresses, count), SYMBOL_FILE_OPEN);
	for (size_t i = 0; i < count; i++) {
		const struct symbol_entry *function = &addresses[i].function;
		ck_assert_msg(function->start == expected[i].start, "%lx: start %lx",
			      expected[i].rva, function->start);
		ck_assert_msg(function->size == expected[i].size, "%lx: size %lx", expected[i].rva,
			      function->size);
		ck_assert(function->is_pseudo == !expected[i].name);
		if (expected[i].name)
			ck_assert_str_eq(function->name, expected[i].name);
		else
			ck_assert_ptr_null(function->name);
		symbol_address_finish(&addresses[i]);
	}
}

START_TEST(test_labels)
{
	static const struct expected expected[] = {
		{0x10005, "labels_copy", 0x10000, 0},
		{0x100c0, "labels_start", 0x10040, 0},
		{0x10190, "labels_start", 0x10040, 0},
		{0x10245, "labels_own", 0x10240, 0},
		{0x10344, "labels_empty", 0x10340, 0},
		{0x10354, "labels_next", 0x10350, 0x40},
		{0x10780, "labels_described", 0x10390, 0x400},
		{0x10795, "labels_host", 0x10790, 0x140},
		{0x10890, "labels_inside", 0x107a0, 0},
		{0x108d5, "labels_split", 0x108d0, 0x20},
		{0x108f5, "labels_split.cold", 0x108d0, 0x20},
		{0x10901, "__restore_rt", 0x10901, 9},
		{0x10908, "__restore_rt", 0x10901, 9},
		{0x1090c, "labels_jump", 0x1090a, 0},
		{0x10910, "__restore_rt", 0x10910, 9},
		{0x10917, "__restore_rt", 0x10910, 9},
	};
	expect_all(LABELS, expected, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

START_TEST(test_labels_stripped)
{
	static const struct expected expected[] = {
		{0x10005, "labels_copy", 0x10000, 0},
		{0x100c0, "labels_start", 0x10040, 0},
		{0x10190, NULL, 0x10190, 0},
		{0x10245, NULL, 0x10245, 0},
		{0x10344, "labels_empty", 0x10340, 0},
		{0x10354, NULL, 0x10350, 0x40},
		{0x10780, "labels_described", 0x10390, 0x400},
		{0x10795, NULL, 0x10790, 0x140},
		{0x10890, "labels_inside", 0x107a0, 0},
		{0x108d5, NULL, 0x108d5, 0},
		{0x10901, "__restore_rt", 0x10901, 9},
		{0x10910, "__restore_rt", 0x10910, 9},
	};
	expect_all(LABELS_STRIPPED, expected, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

/* Loop: whole and stripped. */
START_TEST(test_variables)
{
	const struct {
		uint64_t rva;
		const char *name; /* NULL: none */
		uint64_t start;
		uint64_t size;
	} expected[] = {
		{0x1ffff, NULL, 0, 0},
		{0x20000, "labels_lock", 0x20000, 0x28},
		{0x20027, "labels_lock", 0x20000, 0x28},
		{0x20028, NULL, 0, 0},
		{0x20040, _i ? NULL : "labels_table", _i ? 0 : 0x20040, _i ? 0 : 0x100},
		{0x2013f, _i ? NULL : "labels_table", _i ? 0 : 0x20040, _i ? 0 : 0x100},
		{0x20140, NULL, 0, 0},
		{0x20148, NULL, 0, 0},
	};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	struct mapped_file identity = {.path = _i ? LABELS_STRIPPED : LABELS};
	struct symbol_address addresses[8] = {0};
	ck_assert_uint_eq(count, 8);
	for (size_t i = 0; i < count; i++)
		addresses[i].rva = expected[i].rva;
	ck_assert_int_eq(resolve_file_data(&identity, NULL, addresses, count), SYMBOL_FILE_OPEN);
	for (size_t i = 0; i < count; i++) {
		const struct symbol_entry *variable = &addresses[i].function;
		ck_assert_uint_eq(variable->start, expected[i].start);
		ck_assert_uint_eq(variable->size, expected[i].size);
		ck_assert(!variable->is_pseudo);
		if (expected[i].name)
			ck_assert_str_eq(variable->name, expected[i].name);
		else
			ck_assert_ptr_null(variable->name);
		symbol_address_finish(&addresses[i]);
	}
}
END_TEST

START_TEST(test_function_left_out_by_the_linker)
{
	struct mapped_file identity = {.path = COLLECTED};
	struct symbol_address address = {.rva = 0x1010};
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_FILE_OPEN);
	ck_assert_str_eq(address.function.name, "live_function");
	ck_assert_uint_eq(address.function.start, 0x1000);
	ck_assert_uint_gt(address.function.line, 0);
	ck_assert_uint_eq(address.inlined_count, 0);
	symbol_address_finish(&address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf symbols");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_labels);
	tcase_add_test(cases, test_labels_stripped);
	tcase_add_loop_test(cases, test_variables, 0, 2);
	tcase_add_test(cases, test_function_left_out_by_the_linker);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
