/* Address spaces: mappings are replaced, split, removed and copied. */
#include "tests/support/suite.h"
#include "unwind/unwind.h"
#include <check.h>
#include <errno.h>
#include <stdlib.h>

static struct uw_space *space;

static void setup(void)
{
	space = uw_space_create(UW_ARCH_X86_64);
	ck_assert_ptr_nonnull(space);
}

static void teardown(void)
{
	uw_space_destroy(space);
}

static void map(uint64_t start, uint64_t end, uint32_t tag)
{
	ck_assert_int_eq(uw_space_map(space, start, end, 0, NULL, tag), 0);
}

static void assert_tag(const struct uw_space *in, uint64_t address, uint32_t expected)
{
	uint32_t tag = 0;
	uint64_t rva = 0;

	ck_assert(uw_space_find(in, address, &tag, &rva));
	ck_assert_uint_eq(tag, expected);
	ck_assert_uint_eq(rva, address); /* no module */
}

static void assert_none(const struct uw_space *in, uint64_t address)
{
	uint32_t tag = 77;
	uint64_t rva = 88;

	ck_assert(!uw_space_find(in, address, &tag, &rva));
	ck_assert_uint_eq(tag, 77);
	ck_assert_uint_eq(rva, 88);
}

START_TEST(empty)
{
	assert_none(space, 0);
	assert_none(space, UINT64_MAX);
	ck_assert_int_eq(uw_space_unmap(space, 0, UINT64_MAX), 0);
	ck_assert_int_eq(uw_space_unmap(space, 0, UINT64_MAX), 0);
	uw_space_destroy(NULL);
}
END_TEST

START_TEST(one)
{
	map(0x1000, 0x2000, 1);
	assert_none(space, 0xfff);
	assert_tag(space, 0x1000, 1);
	assert_tag(space, 0x1fff, 1);
	assert_none(space, 0x2000);
}
END_TEST

START_TEST(whole)
{
	map(0, UINT64_MAX, 3);
	assert_tag(space, 0, 3);
	assert_tag(space, UINT64_MAX - 1, 3);
	assert_none(space, UINT64_MAX);
}
END_TEST

START_TEST(refused_ranges)
{
	map(0x1000, 0x2000, 1);
	ck_assert_int_eq(uw_space_map(space, 0x1000, 0x1000, 0, NULL, 2), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(uw_space_map(space, UINT64_MAX - 10, 10, 0, NULL, 2), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(uw_space_unmap(space, 0x2000, 0x1000), -1);
	ck_assert_int_eq(errno, EINVAL);
	assert_tag(space, 0x1800, 1);
}
END_TEST

/* Reported twice, and then with another name. */
START_TEST(same_again)
{
	map(0x1000, 0x2000, 1);
	map(0x1000, 0x2000, 1);
	assert_tag(space, 0x1000, 1);
	map(0x1000, 0x2000, 2);
	assert_tag(space, 0x1000, 2);
	ck_assert_int_eq(uw_space_unmap(space, 0x1000, 0x2000), 0);
	assert_none(space, 0x1000);
}
END_TEST

START_TEST(split_by_unmap)
{
	map(0x1000, 0x9000, 1);
	ck_assert_int_eq(uw_space_unmap(space, 0x3000, 0x4000), 0);
	assert_tag(space, 0x2fff, 1);
	assert_none(space, 0x3000);
	assert_none(space, 0x3fff);
	assert_tag(space, 0x4000, 1);
	assert_tag(space, 0x8fff, 1);
}
END_TEST

START_TEST(replace_middle)
{
	map(0x1000, 0x9000, 1);
	map(0x3000, 0x4000, 2);
	assert_tag(space, 0x2fff, 1);
	assert_tag(space, 0x3000, 2);
	assert_tag(space, 0x3fff, 2);
	assert_tag(space, 0x4000, 1);
}
END_TEST

START_TEST(replace_several)
{
	map(0x1000, 0x2000, 1);
	map(0x3000, 0x4000, 2);
	map(0x5000, 0x6000, 3);
	map(0x1800, 0x5800, 4);
	assert_tag(space, 0x17ff, 1);
	assert_tag(space, 0x1800, 4);
	assert_tag(space, 0x2800, 4);
	assert_tag(space, 0x57ff, 4);
	assert_tag(space, 0x5800, 3);
	assert_none(space, 0x6000);
}
END_TEST

START_TEST(many_in_any_order)
{
	enum { MAPPINGS = 1000 };

	for (uint64_t i = 0; i < MAPPINGS; i++) {
		uint64_t n = i * 7919 % MAPPINGS;

		map(n * 0x2000, n * 0x2000 + 0x1000, (uint32_t)n);
	}
	for (uint64_t n = 0; n < MAPPINGS; n++) {
		assert_tag(space, n * 0x2000, (uint32_t)n);
		assert_tag(space, n * 0x2000 + 0xfff, (uint32_t)n);
		assert_none(space, n * 0x2000 + 0x1000);
	}
}
END_TEST

START_TEST(clone_is_independent)
{
	map(0x1000, 0x2000, 1);
	struct uw_space *clone = uw_space_clone(space);
	ck_assert_ptr_nonnull(clone);
	ck_assert_int_eq(uw_space_unmap(space, 0, UINT64_MAX), 0);
	map(0x5000, 0x6000, 2);
	assert_none(space, 0x1000);
	assert_tag(clone, 0x1000, 1);
	assert_none(clone, 0x5000);
	uw_space_destroy(clone);
}
END_TEST

START_TEST(clone_of_empty)
{
	struct uw_space *clone = uw_space_clone(space);

	ck_assert_ptr_nonnull(clone);
	ck_assert_int_eq(uw_space_map(clone, 1, 2, 0, NULL, 9), 0);
	assert_tag(clone, 1, 9);
	assert_none(space, 1);
	uw_space_destroy(clone);
}
END_TEST

static void assert_page(const uint32_t *pages, unsigned page)
{
	if (pages[page] == UW_TAG_NONE)
		assert_none(space, page);
	else
		assert_tag(space, page, pages[page]);
}

/* Random changes against an array that holds one tag per page. Loop: few pages, and so many that
 * their mappings are in many blocks. */
START_TEST(model)
{
	enum { PAGES = 4096, ROUNDS = 20000 };
	static uint32_t pages[PAGES];
	unsigned count = _i == 0 ? 64 : PAGES, longest = _i == 0 ? count : 8;

	for (unsigned page = 0; page < count; page++)
		pages[page] = UW_TAG_NONE;
	srand(1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		unsigned start = (unsigned)rand() % count;
		unsigned end = start + 1 + (unsigned)rand() % longest;
		bool add = rand() % 3 != 0;

		if (end > count)
			end = count;
		if (add)
			map(start, end, round % 4);
		else
			ck_assert_int_eq(uw_space_unmap(space, start, end), 0);
		for (unsigned page = start; page < end; page++)
			pages[page] = add ? round % 4 : UW_TAG_NONE;
		assert_page(pages, (unsigned)rand() % count);
		assert_page(pages, start);
		if (start > 0)
			assert_page(pages, start - 1);
		if (end < count)
			assert_page(pages, end);
	}
	for (unsigned page = 0; page < count; page++)
		assert_page(pages, page);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind space");
	TCase *tcase = tcase_create("space");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, one);
	tcase_add_test(tcase, whole);
	tcase_add_test(tcase, refused_ranges);
	tcase_add_test(tcase, same_again);
	tcase_add_test(tcase, split_by_unmap);
	tcase_add_test(tcase, replace_middle);
	tcase_add_test(tcase, replace_several);
	tcase_add_test(tcase, many_in_any_order);
	tcase_add_test(tcase, clone_is_independent);
	tcase_add_test(tcase, clone_of_empty);
	tcase_add_loop_test(tcase, model, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
