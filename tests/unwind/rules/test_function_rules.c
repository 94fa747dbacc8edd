/* The rules of functions: call frame information in which entries and FDEs say odd things. */
#include "tests/support/suite.h"
#include "tests/unwind/rules/rules_check.h"
#include "unwind/rules/function_rules.h"
#include "unwind/rules/quick.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
	FRAME_MAX = 2 * 1024 * 1024,
	FUNCTIONS_MAX = 4000, /* more than one cache holds */
	HDR_RVA = 0x1000,
	FRAME_RVA = 0x100000,
	CIE_SIZE = 24,
	LONG_ROWS = 400
};

static uint8_t frame[FRAME_MAX];
static int32_t entries[FUNCTIONS_MAX][2];
static size_t frame_size, entry_count;
static struct uw_module module;
static struct uw_rule_cache *cache;

static void put(const void *bytes, size_t size)
{
	ck_assert_uint_le(frame_size + size, sizeof(frame));
	memcpy(frame + frame_size, bytes, size);
	frame_size += size;
}

static void put32(int64_t value)
{
	int32_t word = (int32_t)value;

	put(&word, sizeof(word));
}

static void setup(void)
{
	/* "zR", alignments 1 and -8, pcrel | sdata4; CFA = rsp + 8, return address at CFA - 8. */
	static const uint8_t cie[CIE_SIZE] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
					      1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};

	frame_size = entry_count = 0;
	cache = uw_rule_cache_create();
	ck_assert_ptr_nonnull(cache);
	put(cie, sizeof(cie));
}

static void teardown(void)
{
	uw_rule_cache_unref(cache);
}

/* An FDE for [start, start + size), found through an entry for `entry`. */
static void put_fde(uint32_t entry, uint32_t start, uint32_t size, const void *code,
		    size_t code_size)
{
	entries[entry_count][0] = (int32_t)(entry - HDR_RVA);
	entries[entry_count++][1] = (int32_t)(FRAME_RVA + frame_size - HDR_RVA);
	put32((int64_t)(13 + code_size));
	put32((int64_t)frame_size);
	put32((int64_t)start - (int64_t)(FRAME_RVA + frame_size));
	put32(size);
	put("", 1);
	put(code, code_size);
}

static void put_function(uint32_t start, uint32_t size)
{
	static const uint8_t code[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x44, 0x0c, 7, 8};

	put_fde(start, start, size, code, sizeof(code));
}

/* The module of what was put, its entries as they are. */
static void build(void)
{
	module = (struct uw_module){.references = 1,
				    .cfi = {.arch = UW_ARCH_X86_64,
					    .frame = {.bytes = frame,
						      .size = frame_size,
						      .rva = FRAME_RVA},
					    .hdr_rva = HDR_RVA,
					    .table = {.bytes = (const uint8_t *)entries,
						      .size = entry_count * sizeof(entries[0])}}};
}

static bool find(uint64_t rva, struct uw_found_rules *row)
{
	uint32_t effort = 0;
	return uw_function_rules_find(cache, &module, rva, &effort, row);
}

/* How many addresses of [start, end) are known; none is wrong. */
static size_t known(uint64_t start, uint64_t end)
{
	size_t count = 0;
	for (uint64_t rva = start; rva < end; rva++) {
		struct rules_check check = rules_check(cache, &module, rva);
		if (check.wrong)
			ck_abort_msg("%#lx: %s", (unsigned long)rva, check.wrong);
		count += check.has;
	}
	return count;
}

START_TEST(empty)
{
	build();
	ck_assert_uint_eq(known(0, 0x4000), 0);
	ck_assert_uint_eq(known(UINT64_MAX - 0x4000, UINT64_MAX), 0);
}
END_TEST

START_TEST(one)
{
	struct uw_found_rules row;
	put_function(0x20000, 40);
	build();
	ck_assert_uint_eq(known(0x1f000, 0x21000), 40);
	ck_assert(find(0x20000, &row));
	ck_assert_int_eq(row.rules.cfa_offset, 8);
	ck_assert_uint_eq(row.function, 0x20000);
	ck_assert(!row.ends);
	ck_assert(find(0x20003, &row));
	ck_assert_int_eq(row.rules.cfa_offset, 16);
	ck_assert_int_eq(row.rules.saved.slot[1], -2);
	ck_assert(find(0x20027, &row));
	ck_assert(row.ends);
}
END_TEST

START_TEST(neighbours)
{
	/* With and without a gap, over the ends of pages and of several. */
	put_function(0x201f0, 16);
	put_function(0x20200, 1000);
	put_function(0x205f8, 1);
	put_function(0x205f9, 0x1807);
	put_function(0x22000, 5000);
	build();
	ck_assert_uint_eq(known(0x20000, 0x24000), 16 + 1000 + 1 + 0x1807 + 0x1388);
}
END_TEST

START_TEST(many_rows)
{
	uint8_t code[LONG_ROWS * 3];

	for (size_t i = 0; i < LONG_ROWS; i++) {
		code[3 * i] = 0x41;
		code[3 * i + 1] = 0x0e;
		code[3 * i + 2] = (uint8_t)(8 + i % 100);
	}
	put_function(0x20000, 64);
	put_fde(0x20100, 0x20100, 3000, code, sizeof(code));
	build();
	ck_assert_uint_eq(known(0x20000, 0x21000), 64 + 3000);
}
END_TEST

START_TEST(overlapping)
{
	put_function(0x20000, 1000);
	put_function(0x20100, 16); /* takes over, and nothing follows it */
	put_function(0x20200, 100);
	put_function(0x20200, 50); /* the last of several */
	build();
	ck_assert_uint_eq(known(0x1f000, 0x21000), 0x100 + 16 + 50);
}
END_TEST

START_TEST(at_odds)
{
	static const uint8_t unfinished[] = {0x41, 0x0e}, special[] = {0x41, 0x0f, 1, 0x30};

	put_function(0x20000, 100);
	put_fde(0x20100, 0x20110, 64, "", 0); /* starts after its entry */
	put_fde(0x20200, 0x201f0, 64, "", 0); /* and before it */
	put_fde(0x20300, 0x20300, 0, "", 0);
	put_fde(0x20400, 0x20400, 64, unfinished, sizeof(unfinished));
	put_fde(0x20500, 0x20500, 64, special, sizeof(special));
	put_function(0x20540, 100);
	entries[entry_count][0] = 0x20600 - HDR_RVA;
	entries[entry_count++][1] = 0; /* an FDE at no such place */
	put_function(0x20700, 100);
	build();
	ck_assert_uint_eq(known(0x1f000, 0x21000), 300);
}
END_TEST

START_TEST(rows_at_one_address)
{
	/* A CIE whose code alignment is 0. */
	static const uint8_t code[] = {0x41, 0x0e, 16, 0x41, 0x0e, 24};

	frame[12] = 0;
	put_fde(0x20000, 0x20000, 64, code, sizeof(code));
	build();
	ck_assert_uint_eq(known(0x1f000, 0x21000), 64);
}
END_TEST

START_TEST(cie_that_advances)
{
	static const uint8_t cie[CIE_SIZE] = {20,   0,    0,   0, 0,    0,    0,    0,
					      1,    'z',  'R', 0, 1,    0x78, 16,   1,
					      0x1b, 0x0c, 7,   8, 0x90, 1,    0x41, 0};

	memcpy(frame, cie, sizeof(cie));
	put_function(0x20000, 64);
	build();
	ck_assert_uint_eq(known(0x1f000, 0x21000), 0);
}
END_TEST

/* Functions take each other's place. */
START_TEST(too_many)
{
	for (uint32_t i = 0; i < FUNCTIONS_MAX; i++) {
		uint8_t code[] = {0x0e, (uint8_t)(i | 0x80), (uint8_t)(i >> 7)};
		put_fde(0x200000 + 16 * i, 0x200000 + 16 * i, 16, code, sizeof(code));
	}
	build();
	for (uint32_t i = 0; i < 2 * FUNCTIONS_MAX; i++) {
		struct uw_found_rules row;
		ck_assert(find(0x200000 + 16 * (i % FUNCTIONS_MAX), &row));
		ck_assert_int_eq(row.rules.cfa_offset, (int)(i % FUNCTIONS_MAX));
	}
}
END_TEST

/* Rows of more than a cache may hold are left to the interpreter. */
START_TEST(too_large)
{
	static uint8_t code[UW_FUNCTION_RULES_BYTES_MAX / sizeof(struct uw_rules_row)];
	memset(code, 0, sizeof(code));
	put_fde(0x20000, 0x20000, 16, code, sizeof(code) - 2);
	put_fde(0x30000, 0x30000, 16, code, sizeof(code));
	build();
	ck_assert_uint_eq(known(0x20000, 0x20010), 16);
	ck_assert_uint_eq(known(0x30000, 0x30010), 0);
}
END_TEST

START_TEST(far_apart)
{
	put_function(0, 64);
	put_function(0x7fffffc0, 64);
	put_function(0x80000000, 64);
	build();
	ck_assert_uint_eq(known(0, 0x1000), 64);
	ck_assert_uint_eq(known(0x7ffff000, 0x80001000), 128);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind function_rules");
	TCase *cases = tcase_create("rules");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, empty);
	tcase_add_test(cases, one);
	tcase_add_test(cases, neighbours);
	tcase_add_test(cases, many_rows);
	tcase_add_test(cases, overlapping);
	tcase_add_test(cases, at_odds);
	tcase_add_test(cases, rows_at_one_address);
	tcase_add_test(cases, cie_that_advances);
	tcase_add_test(cases, too_many);
	tcase_add_test(cases, too_large);
	tcase_add_test(cases, far_apart);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
