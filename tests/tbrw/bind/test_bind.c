/* Binding as an operation: done, stored, undone, refused. */
#include "tests/tbrw/support.h"
#include <stdlib.h>
#include <time.h>

#define NONE TBRW_INDEX_NONE

static TBRW_U32 never_modules(const TBRW_MODULE *modules, TBRW_U32 size, TBRW_U64 n,
			      const MODULE_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	(void)modules, (void)size, (void)n, (void)table, (void)table_size, (void)user;
	ck_abort_msg("modules of a file that is not bound");
}

static TBRW_U32 never_threads(const TBRW_TID *tids, TBRW_U32 size, TBRW_U64 n,
			      const TID_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	(void)tids, (void)size, (void)n, (void)table, (void)table_size, (void)user;
	ck_abort_msg("threads of a file that is not bound");
}

static void write_small(const char *name)
{
	TBRW_PTR ptr = open_file(name, CREATE);
	const TBRW_MODULE module = module_of(1, 0x1000, 0x1000, 0, L"/bin/a");
	const struct sample samples[] = {sample_of(1, 1, 0x1100, 5), sample_of(1, 1, 0x9100, 6)};

	write_modules(ptr, &module, 1);
	write_samples(ptr, samples, 2);
	OK(TBRW_close(ptr));
}

START_TEST(bind_is_stored)
{
	DATA_BIND_STRUCT results[2];
	struct bind_results b = {results, 0, 2};
	TBRW_U32 size, streams;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	ck_assert(!is_bound(ptr));
	FAILS(TBRW_get_size_of_data_bind_entry(ptr, 0, &size), VT_STREAM_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 0), VT_STREAM_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_modules(ptr, never_modules, NULL, 0), VT_TB5_IS_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_threads(ptr, never_threads, NULL, 0), VT_TB5_IS_NOT_BOUND);
	FAILS(TBRW_unbind(ptr, 0), VT_STREAM_NOT_BOUND);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));

	ptr = open_file("small.tb5", READ);
	OK(TBRW_verify(ptr));
	ck_assert(is_bound(ptr));
	OK(TBRW_get_number_data_streams(ptr, &streams));
	ck_assert_uint_eq(streams, 5);
	OK(TBRW_get_size_of_data_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 24);
	OK(TBRW_get_size_of_module_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 8);
	OK(TBRW_get_size_of_tid_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 8);
	OK(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 0));
	ck_assert_uint_eq(b.count, 2);
	ck_assert_uint_eq(results[0].module_index, 0);
	ck_assert_uint_eq(results[1].module_index, NONE);
	b.count = 0;
	OK(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 1));
	ck_assert_uint_eq(b.count, 1);
	ck_assert_uint_eq(results[0].module_index, NONE);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 3), VT_INVALID_READ_START);
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(bind_of_a_read_only_file)
{
	DATA_BIND_STRUCT results[2];
	const TBRW_PID *pid;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ);
	bind_samples(ptr, results, 2);
	ck_assert_uint_eq(results[0].module_index, 0);
	OK(TBRW_get_one_pid(ptr, 0, &pid));
	OK(TBRW_verify(ptr));
	OK(TBRW_unbind(ptr, 0));
	ck_assert(!is_bound(ptr));
	bind_samples(ptr, results, 2);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	ck_assert(!is_bound(ptr));
	OK(TBRW_close(ptr));
}
END_TEST

/* All of the results or none. */
START_TEST(unbind_while_results_are_read)
{
	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_reading_stream(ptr, 3));
	FAILS(TBRW_unbind(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	ck_assert(is_bound(ptr));
	OK(TBRW_reading_stream(ptr, 1));
	OK(TBRW_done_stream(ptr, 1));
	OK(TBRW_done_stream(ptr, 3));
	OK(TBRW_unbind(ptr, 0));
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	ck_assert(!is_bound(ptr));
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(unbind_is_stored)
{
	DATA_BIND_STRUCT results[2];

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_unbind(ptr, 0));
	FAILS(TBRW_reading_stream(ptr, 1), VT_STREAM_NOT_EXIST);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ_WRITE);
	ck_assert(!is_bound(ptr));
	bind_samples(ptr, results, 2);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	ck_assert(is_bound(ptr));
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(bind_refused)
{
	TBRW_PTR ptr = open_file("refused.tb5", CREATE);
	const uint32_t value = 1;
	const struct sample s = sample_of(1, 1, 0, 0);

	FAILS(TBRW_dobind(ptr, 0), VT_STREAM_NOT_EXIST);
	begin_samples(ptr);
	FAILS(TBRW_dobind(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	OK(TBRW_add_data(ptr, 0, sizeof(s), (void *)(uintptr_t)&s));
	end_samples(ptr);
	write_custom_stream(ptr, 1, L"other", 4, &value, 4);
	FAILS(TBRW_dobind(ptr, 1), VT_INVALID_STREAM);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_dobind(ptr, 0), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));

	ptr = open_file("custom.tb5", CREATE);
	write_custom_stream(ptr, 0, L"no samples", 4, &value, 4);
	FAILS(TBRW_dobind(ptr, 0), VT_LEGACY_DATA_NOT_EXIST);
	OK(TBRW_close(ptr));
}
END_TEST

/* Results know the modules of their time; a section written later makes them stale. */
START_TEST(bind_mismatch)
{
	TBRW_PTR ptr = open_file("late.tb5", CREATE);
	const TBRW_MODULE module = module_of(1, 0x1000, 0x1000, 0, L"/bin/a");
	const struct sample s = sample_of(1, 1, 0x1100, 5);
	DATA_BIND_STRUCT result;
	struct bind_results b = {&result, 0, 1};

	write_samples(ptr, &s, 1);
	bind_samples(ptr, &result, 1);
	ck_assert_uint_eq(result.module_index, NONE);
	write_modules(ptr, &module, 1);
	ck_assert(!is_bound(ptr));
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 0), VT_UNEXPECTED_BIND_MISMATCH);
	bind_samples(ptr, &result, 1);
	ck_assert_uint_eq(result.module_index, 0);
	OK(TBRW_close(ptr));
}
END_TEST

/* A million samples among two thousand modules of ten processes, checked against the address that
 * each was made from. The limit is far above what it takes, and far below a quadratic search. */
START_TEST(bind_a_million)
{
	enum { PROCESSES = 10, MODULES = 2000, SAMPLES = 1000000 };
	TBRW_PTR ptr = open_file("million.tb5", CREATE);
	DATA_BIND_STRUCT *results = malloc(SAMPLES * sizeof(*results));
	struct timespec begin, end;
	uint32_t random = 12345;
	struct bind_results b = {results, 0, SAMPLES};

	ck_assert_ptr_nonnull(results);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (uint32_t i = 0; i < MODULES; i++) {
		TBRW_MODULE m =
			module_of(i % PROCESSES, (i + 1) * 0x10000ull, 0x8000, i, L"/lib/module");

		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	begin_samples(ptr);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		random = random * 1664525 + 1013904223;
		struct sample s =
			sample_of(random / 65536 % MODULES % PROCESSES, 1,
				  (random / 65536 % MODULES + 1) * 0x10000ull + random % 0x8000,
				  MODULES + i);
		OK(TBRW_add_data(ptr, 0, sizeof(s), &s));
	}
	end_samples(ptr);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	OK(TBRW_dobind(ptr, 0));
	clock_gettime(CLOCK_MONOTONIC, &end);
	double seconds =
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	ck_assert_msg(seconds < 20, "binding took %.1f s", seconds);
	OK(TBRW_bind_enumerate_data(ptr, 0, collect_bound, &b, 0));
	ck_assert_uint_eq(b.count, SAMPLES);
	random = 12345;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		random = random * 1664525 + 1013904223;
		ck_assert_uint_eq(results[i].module_index, random / 65536 % MODULES);
	}
	OK(TBRW_close(ptr));
	free(results);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		bind_is_stored,
		bind_of_a_read_only_file,
		unbind_while_results_are_read,
		unbind_is_stored,
		bind_refused,
		bind_mismatch,
		bind_a_million,
	};

	return run_suite(suite_of("bind", tests, sizeof(tests) / sizeof(*tests)));
}
