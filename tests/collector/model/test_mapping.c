/* Lists of mappings: replaced, split at both sides, added again, copied. */
#include "collector/model/mapping.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct ranges list;
enum { UNLOADED_MAX = 20000 };

static struct mapping unloaded[UNLOADED_MAX];
static size_t unloaded_count;
static enum mapping_change changed; /* what the last add said */

static void setup(void)
{
	list = (struct ranges){0};
	unloaded_count = 0;
}

static void teardown(void)
{
	ranges_finish(&list);
}

static void take_unloaded(const struct mapping *mapping, void *user)
{
	ck_assert_ptr_eq(user, &list);
	ck_assert_uint_lt(unloaded_count, UNLOADED_MAX);
	unloaded[unloaded_count++] = *mapping;
}

static void add_to(struct ranges *to, uint64_t start, uint64_t end, uint64_t pgoff, uint32_t image,
		   uint64_t load_ns)
{
	struct mapping mapping = {.start = start,
				  .end = end,
				  .pgoff = pgoff,
				  .image = image,
				  .load_ns = load_ns,
				  .written = true};
	unloaded_count = 0;
	ck_assert_int_eq(mapping_list_add(to, &mapping, take_unloaded, &list, &changed), 0);
}

static void add(uint64_t start, uint64_t end, uint64_t pgoff, uint32_t image, uint64_t load_ns)
{
	add_to(&list, start, end, pgoff, image, load_ns);
}

static struct mapping *item_of(const struct ranges *of, size_t index)
{
	struct ranges_place place = {0};
	struct mapping *item = NULL;
	for (size_t i = 0; i <= index; i++)
		item = ranges_next(of, &place);
	return item;
}

static void assert_item(size_t index, uint64_t start, uint64_t end, uint64_t pgoff, uint32_t image,
			uint64_t load_ns)
{
	ck_assert_uint_lt(index, list.count);
	const struct mapping *item = item_of(&list, index);
	ck_assert_uint_eq(item->start, start);
	ck_assert_uint_eq(item->end, end);
	ck_assert_uint_eq(item->pgoff, pgoff);
	ck_assert_uint_eq(item->image, image);
	ck_assert_uint_eq(item->load_ns, load_ns);
}

START_TEST(empty)
{
	struct ranges copy = {.count = 5};
	ck_assert_int_eq(mapping_list_copy(&copy, &list), 0);
	ck_assert_uint_eq(copy.count, 0);
	ranges_finish(&copy);
	add(0x2000, 0x2000, 0, 1, 1); /* no bytes */
	add(0x3000, 0x2000, 0, 1, 1);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(in_order_of_address)
{
	add(0x3000, 0x4000, 0, 3, 1);
	add(0x1000, 0x2000, 0, 1, 2);
	add(0x2000, 0x3000, 0, 2, 3); /* touches both, overlaps none */
	ck_assert_uint_eq(unloaded_count, 0);
	ck_assert_uint_eq(list.count, 3);
	assert_item(0, 0x1000, 0x2000, 0, 1, 2);
	assert_item(1, 0x2000, 0x3000, 0, 2, 3);
	assert_item(2, 0x3000, 0x4000, 0, 3, 1);
}
END_TEST

START_TEST(same_again)
{
	add(0x1000, 0x2000, 0x500, 1, 1);
	ck_assert_int_eq(changed, MAPPING_ADDED);
	add(0x1000, 0x2000, 0x500, 1, 9);
	ck_assert_int_eq(changed, MAPPING_SAME);
	ck_assert_uint_eq(unloaded_count, 0);
	ck_assert_uint_eq(list.count, 1);
	assert_item(0, 0x1000, 0x2000, 0x500, 1, 1);
	ck_assert(item_of(&list, 0)->written);
}
END_TEST

/* Loop: what differs. */
START_TEST(nearly_the_same_replaces)
{
	add(0x1000, 0x2000, 0x500, 1, 1);
	add(0x1000, 0x2000, _i == 0 ? 0x600 : 0x500, _i == 1 ? 2 : 1, 9);
	if (_i == 2)
		add(0x1000, 0x3000, 0x500, 1, 9);
	ck_assert_int_eq(changed, _i == 2 ? MAPPING_ADDED : MAPPING_REPLACED);
	ck_assert_uint_eq(unloaded_count, 1);
	ck_assert_uint_eq(unloaded[0].load_ns, 1);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_uint_eq(item_of(&list, 0)->load_ns, 9);
}
END_TEST

START_TEST(overlap_at_the_end)
{
	add(0x1000, 0x5000, 0x10000, 1, 1);
	add(0x4000, 0x6000, 0, 2, 7);
	ck_assert_uint_eq(unloaded_count, 1);
	ck_assert_uint_eq(unloaded[0].end, 0x5000); /* as it was */
	ck_assert_uint_eq(list.count, 2);
	assert_item(0, 0x1000, 0x4000, 0x10000, 1, 7);
	assert_item(1, 0x4000, 0x6000, 0, 2, 7);
	ck_assert(!item_of(&list, 0)->written);
	ck_assert(item_of(&list, 1)->written);
}
END_TEST

START_TEST(overlap_at_the_start)
{
	add(0x3000, 0x6000, 0x10000, 1, 1);
	add(0x2000, 0x4000, 0, 2, 7);
	ck_assert_uint_eq(unloaded_count, 1);
	ck_assert_uint_eq(list.count, 2);
	assert_item(0, 0x2000, 0x4000, 0, 2, 7);
	assert_item(1, 0x4000, 0x6000, 0x11000, 1, 7);
	ck_assert(!item_of(&list, 1)->written);
}
END_TEST

START_TEST(split_in_the_middle)
{
	add(0x1000, 0x9000, 0x10000, 1, 1);
	add(0x3000, 0x4000, 0x70000, 2, 7);
	ck_assert_uint_eq(unloaded_count, 1);
	ck_assert_uint_eq(list.count, 3);
	assert_item(0, 0x1000, 0x3000, 0x10000, 1, 7);
	assert_item(1, 0x3000, 0x4000, 0x70000, 2, 7);
	ck_assert_int_eq(changed, MAPPING_REPLACED);
	assert_item(2, 0x4000, 0x9000, 0x13000, 1, 7);
	ck_assert(!item_of(&list, 0)->written && !item_of(&list, 2)->written);
}
END_TEST

START_TEST(over_several)
{
	add(0x1000, 0x3000, 0x100000, 1, 1);
	add(0x4000, 0x5000, 0x200000, 2, 2);
	add(0x6000, 0x9000, 0x300000, 3, 3);
	add(0xa000, 0xb000, 0x400000, 4, 4);
	add(0x2000, 0x7000, 0x500000, 5, 9);
	ck_assert_uint_eq(unloaded_count, 3);
	ck_assert_uint_eq(unloaded[0].image, 1);
	ck_assert_uint_eq(unloaded[1].image, 2);
	ck_assert_uint_eq(unloaded[2].image, 3);
	ck_assert_uint_eq(list.count, 4);
	assert_item(0, 0x1000, 0x2000, 0x100000, 1, 9);
	assert_item(1, 0x2000, 0x7000, 0x500000, 5, 9);
	assert_item(2, 0x7000, 0x9000, 0x301000, 3, 9);
	assert_item(3, 0xa000, 0xb000, 0x400000, 4, 4);
}
END_TEST

START_TEST(whole_address_space)
{
	add(0x1000, 0x2000, 0, 1, 1);
	add(UINT64_MAX - 0x1000, UINT64_MAX, 0, 2, 2);
	add(0, UINT64_MAX, 0, 3, 3);
	ck_assert_uint_eq(unloaded_count, 2);
	ck_assert_uint_eq(list.count, 1);
	assert_item(0, 0, UINT64_MAX, 0, 3, 3);
}
END_TEST

START_TEST(copy_is_independent_and_unwritten)
{
	struct ranges copy;
	add(0x1000, 0x2000, 0, 1, 1);
	add(0x3000, 0x4000, 0, 2, 1);
	ck_assert_int_eq(mapping_list_copy(&copy, &list), 0);
	ck_assert_uint_eq(copy.count, 2);
	ck_assert(!item_of(&copy, 0)->written && !item_of(&copy, 1)->written);
	ck_assert(item_of(&list, 0)->written);
	add_to(&copy, 0x1000, 0x4000, 0, 3, 9);
	ck_assert_uint_eq(copy.count, 1);
	ck_assert_uint_eq(list.count, 2);
	assert_item(0, 0x1000, 0x2000, 0, 1, 1);
	ranges_finish(&copy);
}
END_TEST

/* Loop: mappings in the list before it is copied. A split needs room for two more. */
START_TEST(copy_has_room_to_split)
{
	struct ranges copy;
	for (uint64_t i = 0; i < (uint64_t)_i; i++)
		add(0x10000 * i, 0x10000 * i + 0x9000, 0, 1, 1);
	ck_assert_int_eq(mapping_list_copy(&copy, &list), 0);
	add_to(&copy, 0x2000, 0x3000, 0, 2, 2);
	ck_assert_uint_eq(copy.count, (size_t)_i + 2);
	ranges_finish(&copy);
}
END_TEST

enum { PAGES = 1024 };

static void assert_pages(const uint32_t *pages, const uint64_t *offsets)
{
	uint64_t at = 0;
	bool same = true;
	struct ranges_place place = {0};
	for (const struct mapping *item; (item = ranges_next(&list, &place));) {
		same = same && at <= item->start && item->start < item->end;
		for (; same && at < item->start; at++)
			same = pages[at] == 0;
		for (; same && at < item->end; at++)
			same = pages[at] == item->image &&
			       offsets[at] == item->pgoff + at - item->start;
	}
	for (; same && at < PAGES; at++)
		same = pages[at] == 0;
	ck_assert_msg(same, "page %u is not as it was mapped", (unsigned)at);
}

/* However many there are and in whatever order, each is found, and its neighbours are. */
START_TEST(many)
{
	enum { MANY = 20000 };
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t n = _i == 0 ? i : _i == 1 ? MANY - 1 - i : i * 7919 % MANY;
		add(n * 0x2000, n * 0x2000 + 0x1000, 0, (uint32_t)n + 1, 1);
		ck_assert_uint_eq(mapping_list_find(&list, n * 0x2000)->image, n + 1);
	}
	ck_assert_uint_eq(list.count, MANY);
	/* Blocks are at least half full but for the last, and so few are moved. */
	ck_assert_uint_le(list.block_count, MANY / 32 + 1);
	for (uint64_t n = 0; n + 1 < MANY; n++)
		if (mapping_list_find(&list, n * 0x2000 + 0x1000)->image != n + 2)
			ck_abort_msg("%u is not found", (unsigned)n);
	ck_assert_ptr_null(mapping_list_find(&list, MANY * 0x2000));
	add(0x1000, MANY * 0x2000, 0, 7, 2);
	ck_assert_uint_eq(unloaded_count, MANY - 1);
	ck_assert_uint_eq(list.count, 2);
}
END_TEST

/* Random adds against one image per page. */
START_TEST(random_steps)
{
	uint32_t pages[PAGES] = {0};
	uint64_t offsets[PAGES] = {0};
	unsigned seed = (unsigned)_i;
	for (uint32_t image = 1; image < 2000; image++) {
		uint64_t start = (uint64_t)rand_r(&seed) % PAGES;
		uint64_t end = start + 1 + (uint64_t)rand_r(&seed) % (PAGES - start);
		uint64_t pgoff = (uint64_t)rand_r(&seed) % 1000;
		if (rand_r(&seed) % 2 == 0 && end > start + 4)
			end = start + 4;
		add(start, end, pgoff, image, image);
		for (uint64_t p = start; p < end; p++) {
			pages[p] = image;
			offsets[p] = pgoff + p - start;
		}
		assert_pages(pages, offsets);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapping");
	TCase *tcase = tcase_create("mapping");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, in_order_of_address);
	tcase_add_test(tcase, same_again);
	tcase_add_loop_test(tcase, nearly_the_same_replaces, 0, 3);
	tcase_add_test(tcase, overlap_at_the_end);
	tcase_add_test(tcase, overlap_at_the_start);
	tcase_add_test(tcase, split_in_the_middle);
	tcase_add_test(tcase, over_several);
	tcase_add_test(tcase, whole_address_space);
	tcase_add_test(tcase, copy_is_independent_and_unwritten);
	tcase_add_loop_test(tcase, copy_has_room_to_split, 1, 20);
	tcase_add_loop_test(tcase, random_steps, 1, 5);
	tcase_add_loop_test(tcase, many, 0, 3);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
