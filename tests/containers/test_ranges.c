/* Ranges: found in whatever order they came, few moved for each. */
#include "containers/ranges.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MANY = 20000, PAGES = 1024, PAGE = 0x1000 };

struct page {
	uint64_t start, end;
	uint32_t tag;
};

static struct ranges list;

static void setup(void)
{
	list = (struct ranges){0};
}

static void teardown(void)
{
	ranges_finish(&list);
	ck_assert_ptr_null(list.blocks);
}

static struct page page_of(uint64_t page)
{
	return (struct page){.start = page * PAGE, .end = (page + 1) * PAGE, .tag = (uint32_t)page};
}

static void insert(uint64_t page)
{
	struct page mapping = page_of(page);

	struct ranges_place place = ranges_find(&list, mapping.start);
	ranges_insert(&list, &place, &mapping);
	const struct page *next = ranges_at(&list, place);
	if (next && next->tag <= page)
		ck_abort_msg("%u comes behind %u", next->tag, (unsigned)page);
}

static void reserve_and_insert(uint64_t page)
{
	if (!ranges_reserve(&list, sizeof(struct page)))
		ck_abort_msg("out of memory");
	insert(page);
}

/* Asserting costs more than what is asserted. */
static void assert_found(uint64_t page, uint64_t address)
{
	const struct page *mapping = ranges_at(&list, ranges_find(&list, address));

	if (!mapping || mapping->tag != page)
		ck_abort_msg("%u is not found", (unsigned)page);
}

static void drop(uint64_t page)
{
	struct ranges_place place = ranges_find(&list, page * PAGE);

	assert_found(page, page * PAGE);
	ranges_remove(&list, &place);
	const struct page *next = ranges_at(&list, place);
	if (next && next->tag <= page)
		ck_abort_msg("%u comes behind %u", next->tag, (unsigned)page);
}

/* Which page comes in turn i of MANY. */
static uint64_t ordered(int order, uint64_t i)
{
	switch (order) {
	case 0:
		return i;
	case 1:
		return MANY - 1 - i;
	case 2: /* from both ends */
		return i % 2 ? MANY - 1 - i / 2 : i / 2;
	case 3: /* to both ends */
		return i % 2 ? MANY / 2 + i / 2 : MANY / 2 - 1 - i / 2;
	default:
		return i * 7919 % MANY;
	}
}

enum { ORDERS = 5 };

static void assert_pages(const struct ranges *of, const bool *present, uint64_t pages)
{
	struct ranges_place place = {0};
	const struct page *mapping;
	uint64_t page = 0;

	while ((mapping = ranges_next(of, &place))) {
		while (page < pages && !present[page])
			page++;
		if (page == pages || mapping->tag != page || mapping->start != page * PAGE)
			ck_abort_msg("page %u where %u is", mapping->tag, (unsigned)page);
		page++;
	}
	while (page < pages && !present[page])
		page++;
	ck_assert_uint_eq(page, pages);
}

START_TEST(empty)
{
	struct ranges_place place = ranges_find(&list, 0);
	struct ranges copy;

	ck_assert_ptr_null(ranges_at(&list, place));
	ck_assert_ptr_null(ranges_next(&list, &place));
	ck_assert(ranges_copy(&copy, &list));
	ck_assert_uint_eq(copy.count, 0);
	ranges_finish(&copy);
}
END_TEST

START_TEST(found_by_any_address)
{
	struct page whole = {.start = PAGE, .end = UINT64_MAX, .tag = 7};

	ck_assert(ranges_reserve(&list, sizeof(struct page)));
	struct ranges_place place = ranges_find(&list, PAGE);
	ranges_insert(&list, &place, &whole);
	assert_found(7, 0);
	assert_found(7, PAGE);
	ck_assert_ptr_null(ranges_at(&list, ranges_find(&list, UINT64_MAX)));
}
END_TEST

/* Loop: in each order. A block that is not full has half of what fits, but for the first and the
 * last one: what an insertion moves is in one block. */
START_TEST(many)
{
	for (uint64_t i = 0; i < MANY; i++) {
		reserve_and_insert(ordered(_i, i));
		assert_found(ordered(_i, i), ordered(_i, i) * PAGE);
	}
	ck_assert_uint_eq(list.count, MANY);
	ck_assert_uint_le(list.block_count, MANY / (RANGES_BLOCK / 2) + 2);
	for (uint64_t page = 0; page < MANY; page++)
		assert_found(page, page * PAGE + 1);
	for (uint64_t i = 0; i < MANY; i++)
		drop(ordered(ORDERS - 1 - _i, i));
	ck_assert_uint_eq(list.count, 0);
	ck_assert_uint_eq(list.block_count, 0);
	insert(1); /* there is room for what comes in the place of the last ones */
	ck_assert_uint_eq(list.count, 1);
}
END_TEST

/* Three mappings at a place of so many that come in order, after one reservation. */
static void assert_room(uint64_t count, uint64_t at)
{
	static bool present[PAGES];

	for (uint64_t page = 0; page < count + 3; page++) {
		present[page] = true;
		if (page < at || page >= at + 3)
			reserve_and_insert(page);
	}
	ck_assert(ranges_reserve(&list, sizeof(struct page)));
	insert(at + 1);
	insert(at + 2);
	insert(at);
	ck_assert_uint_eq(list.count, count + 3);
	assert_pages(&list, present, count + 3);
	ranges_finish(&list);
}

/* Also where blocks are full. */
START_TEST(room)
{
	static const uint64_t counts[] = {0, 1, 60, 61, 62, 63, 64, 65, 128};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (uint64_t at = 0; at <= counts[i]; at++)
			assert_room(counts[i], at);
}
END_TEST

/* Most spaces are small: they have one block. */
START_TEST(few_need_one_block)
{
	for (uint64_t page = 0; page < RANGES_BLOCK - RANGES_MORE; page++)
		reserve_and_insert(page);
	ck_assert(ranges_reserve(&list, sizeof(struct page)));
	ck_assert_uint_eq(list.block_count + list.spare_count, 1);
}
END_TEST

START_TEST(copies)
{
	struct ranges copy;
	bool present[PAGES] = {0}, left[PAGES] = {0};

	for (uint64_t page = PAGES; page-- > 0;) {
		reserve_and_insert(page);
		present[page] = left[page] = true;
	}
	ck_assert(ranges_copy(&copy, &list));
	ck_assert_uint_eq(copy.block_count, PAGES / RANGES_BLOCK);
	for (uint64_t page = 0; page < PAGES; page += 2) {
		drop(page);
		left[page] = false;
	}
	assert_pages(&copy, present, PAGES);
	assert_pages(&list, left, PAGES);
	ranges_finish(&copy);
}
END_TEST

/* Loop: the seed. */
START_TEST(random_steps)
{
	bool present[PAGES] = {0};
	unsigned seed = (unsigned)_i;

	for (int step = 0; step < 20000; step++) {
		uint64_t page = (uint64_t)rand_r(&seed) % PAGES;

		/* Now it fills, now it empties. */
		bool wanted = (rand_r(&seed) % 4 != 0) == (step / 5000 % 2 == 0);

		if (present[page] && !wanted)
			drop(page);
		if (!present[page] && wanted)
			reserve_and_insert(page);
		present[page] = wanted;
		if (step % 100 == 0)
			assert_pages(&list, present, PAGES);
	}
	assert_pages(&list, present, PAGES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges");
	TCase *tests = tcase_create("ranges");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, empty);
	tcase_add_test(tests, found_by_any_address);
	tcase_add_loop_test(tests, many, 0, ORDERS);
	tcase_add_test(tests, room);
	tcase_add_test(tests, few_need_one_block);
	tcase_add_test(tests, copies);
	tcase_add_loop_test(tests, random_steps, 0, 4);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
