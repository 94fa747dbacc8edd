/* Memory that runs out at each allocation in turn: an error code, nothing leaked, and a file that
 * holds what was stored. The linker routes the library's allocations through here. */
#include "tests/tbrw/scenario.h"
#include "tests/tbrw/support.h"
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

#define NEVER UINT32_MAX

static uint32_t allocations_left = NEVER; /* until one fails */

static bool allocation_fails(void)
{
	return allocations_left != NEVER && allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(old, count, size);
}

/* Whether an allocation failed since they were counted. */
static bool end_of_counting(void)
{
	/* The one that fails turns the counter to NEVER. */
	bool failed = allocations_left == NEVER;

	allocations_left = NEVER;
	return failed;
}

/* A file that writing could not complete is gone or readable, and holds no more than was added. */
static void expect_readable(const wchar_t *path, uint32_t added)
{
	uint32_t seen = 0;
	TBRW_U32 code = scenario_read(path, 7, &seen);

	/* Nothing was stored: the file was removed. */
	if (code == VT_FILE_OPEN_FAILED)
		return;
	/* Samples were stored before their descriptors: not yet an entry. */
	ck_assert_msg(code == VT_SUCCESS || code == VT_DATA_DESC_NOT_EXIST, "%u", code);
	ck_assert_uint_le(seen, added);
}

START_TEST(writing)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t failures = 0;

	for (uint32_t n = 0; n < 10000; n++) {
		uint32_t added;

		allocations_left = n;
		TBRW_U32 code = scenario_write(path, 7, &added);
		if (!end_of_counting()) {
			OK(code);
			ck_assert_uint_gt(failures, 100);
			return;
		}
		FAILS(code, VT_NO_MEMORY);
		failures++;
		expect_readable(path, added);
		unlink(path_of("a.tb5"));
	}
	ck_abort_msg("allocations without end");
}
END_TEST

/* The file is complete before; without memory it stays what it was. */
START_TEST(binding)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t failures = 0;
	uint32_t count;

	OK(scenario_write(path, 7, &count));
	for (uint32_t n = 0; n < 10000; n++) {
		allocations_left = n;
		TBRW_U32 code = scenario_bind(path);
		if (!end_of_counting()) {
			OK(code);
			ck_assert_uint_gt(failures, 50);
			OK(scenario_read(path, 7, &count));
			return;
		}
		FAILS(code, VT_NO_MEMORY);
		failures++;
		TBRW_PTR ptr = open_file("a.tb5", READ);
		OK(TBRW_verify(ptr));
		OK(TBRW_get_number_data_streams(ptr, &count));
		ck_assert_uint_eq(count, 1);
		OK(TBRW_close(ptr));
	}
	ck_abort_msg("allocations without end");
}
END_TEST

/* A bind that fails leaves a file that can be bound, added to and closed. */
START_TEST(binding_again)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t count;

	for (uint32_t n = 0; n < 10000; n++) {
		const uint32_t value = 1;

		OK(scenario_write(path, 7, &count));
		TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
		allocations_left = n;
		TBRW_U32 code = TBRW_dobind(ptr, 0);
		if (!end_of_counting()) {
			OK(code);
			OK(TBRW_close(ptr));
			return;
		}
		FAILS(code, VT_NO_MEMORY);
		code = TBRW_dobind(ptr, 0);
		/* No memory for the names of the bind streams stops all writing. */
		if (code == VT_NO_MEMORY) {
			OK(TBRW_abort_cleanup_and_close(ptr));
			continue;
		}
		OK(code);
		write_custom_stream(ptr, 5, L"more", 4, &value, 4);
		OK(TBRW_close(ptr));
		OK(scenario_read(path, 7, &count));
		ck_assert_uint_eq(count, SCENARIO_SAMPLES);
	}
	ck_abort_msg("allocations without end");
}
END_TEST

START_TEST(reading)
{
	const wchar_t *path = wide_path_of("a.tb5");
	uint32_t failures = 0;
	uint32_t count;

	OK(scenario_write(path, 7, &count));
	for (uint32_t n = 0; n < 10000; n++) {
		allocations_left = n;
		TBRW_U32 code = scenario_read(path, 7, &count);
		if (!end_of_counting()) {
			OK(code);
			ck_assert_uint_gt(failures, 20);
			return;
		}
		FAILS(code, VT_NO_MEMORY);
		failures++;
	}
	ck_abort_msg("allocations without end");
}
END_TEST

/* Thousands of modules name the same few files: a string that was given just now is neither
 * converted nor looked up again. */
START_TEST(strings_given_again)
{
	static const wchar_t *const paths[] = {L"/usr/lib/liba.so", L"/usr/lib/libb.so"};
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_U32 code = VT_SUCCESS;

	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; code == VT_SUCCESS && i < 10; i++) {
		TBRW_MODULE module = module_of(1, i << 12, 1 << 12, 0, paths[i % 2]);
		if (i == 2)
			allocations_left = 0;
		code = TBRW_add_module(ptr, &module);
	}
	ck_assert(!end_of_counting());
	OK(code);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {writing, binding, binding_again, reading,
				      strings_given_again};

	return run_suite(suite_of("memory", tests, sizeof(tests) / sizeof(*tests)));
}
