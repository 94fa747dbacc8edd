/* An item is found again however many there are. */
#include "tests/support/suite.h"
#include "tools/memory/index_map.h"
#include <check.h>
#include <stdlib.h>

#define COUNT 1000

static struct index_map map;
static uint32_t *items;

static bool is_item(const void *item, const void *wanted)
{
	return *(const uint32_t *)item == *(const uint32_t *)wanted;
}

static void enter_all(uint64_t (*hash)(uint32_t))
{
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t wanted = i * 7;
		ck_assert_uint_eq(index_map_enter(&map, &items, &wanted, sizeof(wanted),
						  hash(wanted), is_item),
				  i);
		ck_assert_uint_eq(items[i], wanted);
	}
}

static uint64_t spread(uint32_t item)
{
	return index_map_hash(&map, &item, sizeof(item));
}

/* All in one place, the last of the table: what does not fit goes on at its start. */
static uint64_t crowded(uint32_t item)
{
	return UINT64_MAX - item % 2;
}

static void check_with(uint64_t (*hash)(uint32_t))
{
	map = (struct index_map){0};
	items = NULL;
	enter_all(hash);
	ck_assert_uint_eq(index_map_count(&map), COUNT);
	enter_all(hash);
	ck_assert_uint_eq(index_map_count(&map), COUNT);
	index_map_finish(&map);
	ck_assert_uint_eq(index_map_count(&map), 0);
	free(items);
}

START_TEST(spread_items)
{
	check_with(spread);
}
END_TEST

START_TEST(items_of_one_hash)
{
	check_with(crowded);
}
END_TEST

START_TEST(texts)
{
	struct index_map other = {0};
	map = (struct index_map){0};
	uint64_t hash = index_map_hash_text(&map, "main");
	ck_assert_uint_eq(hash, index_map_hash(&map, "main", 4));
	ck_assert_uint_ne(hash, index_map_hash_text(&map, "mai"));
	/* Nobody can choose names that meet in all maps. */
	ck_assert_uint_ne(hash, index_map_hash_text(&other, "main"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("index_map");
	TCase *tcase = tcase_create("index_map");

	tcase_add_test(tcase, spread_items);
	tcase_add_test(tcase, items_of_one_hash);
	tcase_add_test(tcase, texts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
