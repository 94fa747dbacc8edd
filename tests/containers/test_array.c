/* Growth of arrays, with memory that runs out: the linker routes reallocarray through here. */
#include "containers/array.h"
#include "tests/support/suite.h"
#include <errno.h>

void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static bool is_out_of_memory;
static size_t calls;

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	calls++;
	if (!is_out_of_memory)
		return __real_reallocarray(old, count, size);
	errno = ENOMEM;
	return NULL;
}

START_TEST(nothing_is_allocated_for_nothing)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	ck_assert(array_reserve(&items, &capacity, 0, sizeof(*items)));
	ck_assert_ptr_null(items);
	ck_assert_uint_eq(capacity, 0);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(elements_stay_and_growth_is_seldom)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	for (uint32_t count = 0; count < 100000; count++) {
		ck_assert(array_reserve(&items, &capacity, (size_t)count + 1, sizeof(*items)));
		ck_assert_uint_gt(capacity, count);
		items[count] = count * 7;
	}
	for (uint32_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(items[i], i * 7);
	ck_assert_uint_lt(capacity, 200000);
	ck_assert_uint_le(calls, 14);
	free(items);
}
END_TEST

START_TEST(many_at_once)
{
	char *text = NULL;
	size_t capacity = 0;

	ck_assert(array_reserve(&text, &capacity, 1, sizeof(*text)));
	memset(text, 'a', capacity);
	ck_assert(array_reserve(&text, &capacity, 1000000, sizeof(*text)));
	ck_assert_uint_ge(capacity, 1000000);
	ck_assert_uint_lt(capacity, 2000000);
	ck_assert_int_eq(text[0], 'a');
	text[capacity - 1] = 'z';
	ck_assert_uint_eq(calls, 2);
	free(text);
}
END_TEST

START_TEST(out_of_memory)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	is_out_of_memory = true;
	ck_assert(!array_reserve(&items, &capacity, 1, sizeof(*items)));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(items);
	ck_assert_uint_eq(capacity, 0);

	is_out_of_memory = false;
	ck_assert(array_reserve(&items, &capacity, 1, sizeof(*items)));
	items[0] = 42;
	const uint64_t *before = items;
	size_t capacity_before = capacity;
	is_out_of_memory = true;
	ck_assert(array_reserve(&items, &capacity, capacity, sizeof(*items)));
	ck_assert(!array_reserve(&items, &capacity, capacity + 1, sizeof(*items)));
	ck_assert_ptr_eq(items, before);
	ck_assert_uint_eq(items[0], 42);
	ck_assert_uint_eq(capacity, capacity_before);
	free(items);
}
END_TEST

/* What count * size would wrap around to is small. */
START_TEST(sizes_that_overflow)
{
	static const size_t counts[] = {SIZE_MAX / 8 + 2, SIZE_MAX / 2, SIZE_MAX / 2 + 2, SIZE_MAX};
	uint64_t *items = NULL;
	size_t capacity = 0;

	ck_assert(array_reserve(&items, &capacity, 1, sizeof(*items)));
	size_t capacity_before = capacity;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ck_assert(!array_reserve(&items, &capacity, counts[i], sizeof(*items)));
		ck_assert_int_eq(errno, ENOMEM);
		ck_assert_uint_eq(capacity, capacity_before);
		ck_assert_ptr_nonnull(items);
	}
	free(items);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("array");
	TCase *tests = tcase_create("array");
	tcase_add_test(tests, nothing_is_allocated_for_nothing);
	tcase_add_test(tests, elements_stay_and_growth_is_seldom);
	tcase_add_test(tests, many_at_once);
	tcase_add_test(tests, out_of_memory);
	tcase_add_test(tests, sizes_that_overflow);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
