/* The map from ids to pointers. */
#include "collector/model/idmap.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

static struct hash_table map;
static int values[4096];

static void teardown(void)
{
	hash_table_finish(&map);
}

START_TEST(empty)
{
	size_t position = 0;
	ck_assert_ptr_null(idmap_get(&map, 0));
	ck_assert_ptr_null(idmap_remove(&map, 7));
	ck_assert_ptr_null(idmap_next(&map, &position));
	hash_table_finish(&map);
	ck_assert_ptr_null(idmap_get(&map, 0));
}
END_TEST

START_TEST(one)
{
	size_t position = 0;
	ck_assert(idmap_put(&map, 0, &values[0]));
	ck_assert_ptr_eq(idmap_get(&map, 0), &values[0]);
	ck_assert_ptr_null(idmap_get(&map, 1));
	ck_assert_ptr_null(idmap_remove(&map, 1));
	ck_assert_ptr_eq(idmap_next(&map, &position), &values[0]);
	ck_assert_ptr_null(idmap_next(&map, &position));
	ck_assert_ptr_eq(idmap_remove(&map, 0), &values[0]);
	ck_assert_ptr_null(idmap_get(&map, 0));
	ck_assert_uint_eq(map.count, 0);
}
END_TEST

START_TEST(replaced)
{
	ck_assert(idmap_put(&map, UINT32_MAX, &values[0]));
	ck_assert(idmap_put(&map, UINT32_MAX, &values[1]));
	ck_assert_uint_eq(map.count, 1);
	ck_assert_ptr_eq(idmap_get(&map, UINT32_MAX), &values[1]);
}
END_TEST

START_TEST(grows)
{
	for (uint32_t id = 0; id < 4096; id++)
		ck_assert(idmap_put(&map, id * 4099, &values[id]));
	for (uint32_t id = 0; id < 4096; id++)
		ck_assert_ptr_eq(idmap_get(&map, id * 4099), &values[id]);
	ck_assert_uint_eq(map.count, 4096);
	size_t position = 0;
	size_t seen = 0;
	while (idmap_next(&map, &position))
		seen++;
	ck_assert_uint_eq(seen, 4096);
}
END_TEST

/* Random puts and removals against an array; few ids, so that they meet in the table. */
START_TEST(random_steps)
{
	enum { IDS = 200 };
	void *model[IDS] = {NULL};
	size_t count = 0;
	unsigned seed = (unsigned)_i;
	/* Multiples of the table's size share a home slot in pairs and more. */
	uint32_t factor = _i % 2 == 0 ? 1 : 65536;
	for (int step = 0; step < 4000; step++) {
		uint32_t i = (uint32_t)rand_r(&seed) % IDS;
		if (rand_r(&seed) % 2 == 0) {
			void *value = &values[rand_r(&seed) % 4096];
			ck_assert(idmap_put(&map, i * factor, value));
			count += !model[i];
			model[i] = value;
		} else {
			ck_assert_ptr_eq(idmap_remove(&map, i * factor), model[i]);
			count -= model[i] != NULL;
			model[i] = NULL;
		}
		ck_assert_uint_eq(map.count, count);
		uint32_t probe = (uint32_t)rand_r(&seed) % IDS;
		ck_assert_ptr_eq(idmap_get(&map, probe * factor), model[probe]);
	}
	for (uint32_t i = 0; i < IDS; i++)
		ck_assert_ptr_eq(idmap_get(&map, i * factor), model[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("idmap");
	TCase *tcase = tcase_create("idmap");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, one);
	tcase_add_test(tcase, replaced);
	tcase_add_test(tcase, grows);
	tcase_add_loop_test(tcase, random_steps, 0, 6);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
