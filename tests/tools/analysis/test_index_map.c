/* Interning: an element is found again however many there are. */
#include "tests/support/suite.h"
#include "tools/analysis/index_map.h"
#include <check.h>

#define COUNT 1000

static uint32_t elements[COUNT];

static bool is_element(const void *user, uint32_t index, const void *key)
{
	return ((const uint32_t *)user)[index] == *(const uint32_t *)key;
}

static void intern_all(struct index_map *map, uint64_t (*hash)(uint32_t), bool is_new)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		bool added;
		uint32_t key = i * 7;
		ck_assert_uint_eq(index_map_intern(map, &key, hash(key), is_element, elements,
						   is_new ? i : COUNT, &added),
				  i);
		ck_assert(added == is_new);
		elements[i] = key;
	}
}

static uint64_t spread(uint32_t key)
{
	return index_map_hash(&key, sizeof(key));
}

/* All in one place, the last of the table: what does not fit goes on at its start. */
static uint64_t crowded(uint32_t key)
{
	return UINT64_MAX - key % 2;
}

static void check_with(uint64_t (*hash)(uint32_t))
{
	struct index_map map = {0};
	intern_all(&map, hash, true);
	ck_assert_uint_eq(map.count, COUNT);
	intern_all(&map, hash, false);
	ck_assert_uint_eq(map.count, COUNT);
	/* A third is free, so that a search ends. */
	ck_assert_uint_ge(map.capacity, COUNT * 3 / 2);
	ck_assert_uint_lt(map.capacity, COUNT * 4);
	index_map_finish(&map);
	ck_assert_ptr_null(map.slots);
	ck_assert_uint_eq(map.capacity + map.count, 0);
}

START_TEST(spread_keys)
{
	check_with(spread);
}
END_TEST

START_TEST(keys_of_one_hash)
{
	check_with(crowded);
}
END_TEST

START_TEST(texts)
{
	ck_assert_uint_eq(index_map_hash_text("main"), index_map_hash("main", 4));
	ck_assert_uint_ne(index_map_hash_text("main"), index_map_hash_text("mai"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("index_map");
	TCase *tcase = tcase_create("index_map");

	tcase_add_test(tcase, spread_keys);
	tcase_add_test(tcase, keys_of_one_hash);
	tcase_add_test(tcase, texts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
