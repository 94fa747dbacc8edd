/* Hash tables against a plain array of what they should hold, with hashes of the worst kinds, and
 * with memory that runs out: the linker routes calloc through here. */
#include "containers/hash_table.h"
#include "tests/support/suite.h"

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool is_out_of_memory;

void *__wrap_calloc(size_t count, size_t size)
{
	return is_out_of_memory ? NULL : __real_calloc(count, size);
}

/* Of a size that is no power of two. */
struct slot {
	struct hash_slot head;
	uint32_t key;
	uint32_t value;
	uint32_t more;
};

static bool is_key(const void *slot, const void *key)
{
	const struct slot *known = slot;
	const uint32_t *wanted = key;
	return known->key == *wanted;
}

static struct slot *find(const struct hash_table *table, uint32_t key, uint64_t hash)
{
	return hash_table_find(table, sizeof(struct slot), hash, is_key, &key);
}

static struct slot *add(struct hash_table *table, uint32_t key, uint64_t hash)
{
	struct slot *slot = hash_table_add(table, sizeof(*slot), hash);
	if (slot)
		slot->key = key;
	return slot;
}

/* Multiplied by the odd number that is nearest to 2^64 over the golden ratio. */
static uint64_t spread(uint32_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static uint64_t same_for_all(uint32_t key)
{
	(void)key;
	return 5;
}

/* All begin in the last slot of a table of any capacity. */
static uint64_t last_slot(uint32_t key)
{
	return UINT32_MAX - (key & 1);
}

/* The low bits, which say where to begin, are the same; the hashes are not. */
static uint64_t same_low_bits(uint32_t key)
{
	return (uint64_t)key << 16;
}

/* Bits that do not count. */
static uint64_t high_bits(uint32_t key)
{
	return (uint64_t)key << 40 | key;
}

typedef uint64_t hash_of(uint32_t key);
static hash_of *const hashes[] = {spread, same_for_all, last_slot, same_low_bits, high_bits};

START_TEST(empty)
{
	struct hash_table table = {0};

	ck_assert_ptr_null(find(&table, 1, 1));
	hash_table_prefetch(&table, sizeof(struct slot), 1);
	hash_table_finish(&table);
}
END_TEST

START_TEST(numbers_and_growth)
{
	struct hash_table table = {0};
	hash_of *hash = hashes[_i];
	uint32_t count = hash == spread || hash == high_bits ? 100000 : 2000;

	uint32_t wrong = 0;
	for (uint32_t key = 0; key < count; key++) {
		wrong += find(&table, key, hash(key)) != NULL;
		struct slot *slot = add(&table, key, hash(key));
		wrong += slot->head.number != key + 1 || slot->value != 0;
		slot->value = ~key;
	}
	ck_assert_uint_eq(table.count, count);
	ck_assert_uint_ge(table.capacity, 2 * (size_t)count);
	ck_assert_uint_lt(table.capacity, 4 * (size_t)count + 1);
	for (uint32_t key = 0; key < count; key++) {
		const struct slot *slot = find(&table, key, hash(key));
		wrong += !slot || slot->head.number != key + 1 || slot->value != ~key;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_ptr_null(find(&table, count, hash(count)));
	hash_table_finish(&table);
	ck_assert_uint_eq(table.count, 0);
	ck_assert_ptr_null(find(&table, 0, hash(0)));
}
END_TEST

/* How often the table does not hold what the model says, or a slot is left that it should not have.
 */
static uint32_t count_differences(const struct hash_table *table, const bool *is_in, uint32_t keys,
				  hash_of *hash)
{
	uint32_t wrong = 0, count = 0, met = 0;

	for (uint32_t key = 0; key < keys; key++) {
		wrong += (find(table, key, hash(key)) != NULL) != is_in[key];
		count += is_in[key];
	}
	for (size_t i = 0; i < table->capacity; i++)
		met += hash_table_at(table, sizeof(struct slot), i)->number != 0;
	return wrong + (count != table->count) + (count != met);
}

START_TEST(removal)
{
	enum { KEYS = 96, STEPS = 2000 };
	struct hash_table table = {0};
	hash_of *hash = hashes[_i];
	bool is_in[KEYS] = {false};
	uint32_t random = 1;

	for (int step = 0; step < STEPS; step++) {
		random = random * 1664525u + 1013904223u;
		uint32_t key = (random >> 16) % KEYS;
		struct slot *slot = find(&table, key, hash(key));
		if (slot)
			hash_table_remove(&table, sizeof(*slot), slot);
		else
			add(&table, key, hash(key));
		is_in[key] = !is_in[key];
		ck_assert_uint_eq(count_differences(&table, is_in, KEYS, hash), 0);
	}
	hash_table_finish(&table);
}
END_TEST

START_TEST(out_of_memory)
{
	struct hash_table table = {0};
	uint32_t key = 0;

	is_out_of_memory = true;
	ck_assert_ptr_null(add(&table, 0, 0));
	is_out_of_memory = false;
	ck_assert_ptr_nonnull(add(&table, key, spread(key)));
	is_out_of_memory = true;
	while (add(&table, key + 1, spread(key + 1)))
		key++;
	ck_assert_uint_eq(table.count, table.capacity / 2);
	ck_assert_uint_eq(table.count, key + 1);
	for (uint32_t known = 0; known <= key; known++)
		ck_assert_ptr_nonnull(find(&table, known, spread(known)));
	ck_assert_ptr_null(find(&table, key + 1, spread(key + 1)));

	/* What was reserved can be added without memory. */
	is_out_of_memory = false;
	ck_assert(hash_table_reserve(&table, sizeof(struct slot)));
	is_out_of_memory = true;
	ck_assert_ptr_nonnull(add(&table, key + 1, spread(key + 1)));
	hash_table_finish(&table);
}
END_TEST

START_TEST(more_than_there_can_be)
{
	struct hash_table table = {.capacity = HASH_TABLE_CAPACITY_MAX,
				   .count = HASH_TABLE_CAPACITY_MAX / 2};

	ck_assert(!hash_table_reserve(&table, sizeof(struct slot)));
	ck_assert_ptr_null(hash_table_add(&table, sizeof(struct slot), 1));
	ck_assert_uint_eq(table.count, HASH_TABLE_CAPACITY_MAX / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash table");
	TCase *tests = tcase_create("hash table");
	int kinds = sizeof(hashes) / sizeof(hashes[0]);
	tcase_add_test(tests, empty);
	tcase_add_loop_test(tests, numbers_and_growth, 0, kinds);
	tcase_add_loop_test(tests, removal, 0, kinds);
	tcase_add_test(tests, out_of_memory);
	tcase_add_test(tests, more_than_there_can_be);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
