/* Threads that use files of their own at the same time; two handles on one file; and what the two
 * forms of callbacks promise: batches, start_index, stopping, errors that are passed on. */
#include "tests/tbrw/scenario.h"
#include "tests/tbrw/support.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8

struct job {
	wchar_t path[640];
	uint64_t seed;
	TBRW_U32 result;
	uint32_t seen;
};

static void *job_run(void *user)
{
	struct job *job = user;
	uint32_t added;

	for (int round = 0; round < 3; round++) {
		job->result = scenario_write(job->path, job->seed, &added);
		if (job->result == VT_SUCCESS)
			job->result = scenario_bind(job->path);
		if (job->result == VT_SUCCESS)
			job->result = scenario_read(job->path, job->seed, &job->seen);
		if (job->result != VT_SUCCESS)
			break;
	}
	return NULL;
}

START_TEST(threads_on_different_files)
{
	static struct job jobs[THREADS];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%u.tb5", i);
		wcscpy(jobs[i].path, wide_path_of(name));
		jobs[i].seed = i * 1000000;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, job_run, &jobs[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		OK(jobs[i].result);
		ck_assert_uint_eq(jobs[i].seen, SCENARIO_SAMPLES);
	}
}
END_TEST

static void *reader_run(void *user)
{
	struct job *job = user;

	for (int round = 0; round < 5 && job->result == VT_SUCCESS; round++)
		job->result = scenario_read(job->path, job->seed, &job->seen);
	return NULL;
}

START_TEST(threads_reading_one_file)
{
	static struct job jobs[THREADS];
	pthread_t threads[THREADS];
	uint32_t added;

	OK(scenario_write(wide_path_of("a.tb5"), 7, &added));
	for (unsigned i = 0; i < THREADS; i++) {
		wcscpy(jobs[i].path, wide_path_of("a.tb5"));
		jobs[i].seed = 7;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, reader_run, &jobs[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		OK(jobs[i].result);
		ck_assert_uint_eq(jobs[i].seen, SCENARIO_SAMPLES);
	}
}
END_TEST

/* ---- Callbacks ---- */

/* What a callback saw and what it is to return. */
struct watch {
	uint64_t entries;
	uint64_t first_ip;
	unsigned calls;
	unsigned stop_at; /* this call returns `answer` */
	TBRW_U32 answer;
	uint64_t first_module;
};

static TBRW_U32 answer(struct watch *w)
{
	return ++w->calls == w->stop_at ? w->answer : TRUE;
}

static TBRW_U32 watch_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct watch *w = user;

	ck_assert_uint_eq(size, count * sizeof(struct sample));
	if (!w->calls)
		w->first_ip = ((const struct sample *)data)->pc.iip;
	w->entries += count;
	return answer(w);
}

static TBRW_U32 watch_bound_data(const void *data, TBRW_U32 size, TBRW_U64 count,
				 const DATA_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	struct watch *w = user;

	ck_assert_uint_eq(size, count * sizeof(struct sample));
	ck_assert_uint_eq(table_size, count * sizeof(*table));
	if (!w->calls) {
		w->first_ip = ((const struct sample *)data)->pc.iip;
		w->first_module = table->module_index;
	}
	w->entries += count;
	return answer(w);
}

static TBRW_U32 watch_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct watch *w = user;

	ck_assert_uint_eq(size, count * sizeof(*modules));
	if (!w->calls)
		w->first_ip = modules->module_load_address;
	w->entries += count;
	return answer(w);
}

static TBRW_U32 watch_bound_modules(const TBRW_MODULE *modules, TBRW_U32 size, TBRW_U64 count,
				    const MODULE_BIND_STRUCT *table, TBRW_U32 table_size,
				    void *user)
{
	struct watch *w = user;

	ck_assert_uint_eq(size, count * sizeof(*modules));
	ck_assert_uint_eq(table_size, count * sizeof(*table));
	if (!w->calls)
		w->first_ip = modules->module_load_address;
	w->entries += count;
	return answer(w);
}

static TBRW_U32 watch_bound_tids(const TBRW_TID *tids, TBRW_U32 size, TBRW_U64 count,
				 const TID_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	struct watch *w = user;

	ck_assert_uint_eq(size, count * sizeof(*tids));
	ck_assert_uint_eq(table_size, count * sizeof(*table));
	w->entries += count;
	return answer(w);
}

static TBRW_PTR open_bound(void)
{
	uint32_t added;

	OK(scenario_write(wide_path_of("a.tb5"), 0x1000, &added));
	OK(scenario_bind(wide_path_of("a.tb5")));
	TBRW_PTR ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	return ptr;
}

/* Any start gives what is left from there, in both forms. */
START_TEST(start_index)
{
	static const uint32_t starts[] = {0, 1, 6553, 6554, SCENARIO_SAMPLES - 1, SCENARIO_SAMPLES};
	TBRW_PTR ptr = open_bound();

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		struct watch raw = {0}, bound = {0};

		OK(TBRW_enumerate_data(ptr, 0, watch_data, &raw, starts[i]));
		OK(TBRW_bind_enumerate_data(ptr, 0, watch_bound_data, &bound, starts[i]));
		ck_assert_uint_eq(raw.entries, SCENARIO_SAMPLES - starts[i]);
		ck_assert_uint_eq(bound.entries, raw.entries);
		ck_assert_uint_eq(bound.first_ip, raw.first_ip);
		if (raw.entries)
			ck_assert_uint_eq(raw.first_ip, 0x1000 + starts[i]);
	}
	FAILS(TBRW_enumerate_data(ptr, 0, watch_data, NULL, SCENARIO_SAMPLES + 1),
	      VT_INVALID_READ_START);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, watch_bound_data, NULL, SCENARIO_SAMPLES + 1),
	      VT_INVALID_READ_START);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

START_TEST(start_index_of_modules)
{
	TBRW_PTR ptr = open_bound();
	struct watch raw = {0}, bound = {0}, tids = {0}, later = {0};

	OK(TBRW_enumerate_modules(ptr, watch_modules, &raw, 150));
	OK(TBRW_bind_enumerate_modules(ptr, watch_bound_modules, &bound, 150));
	ck_assert_uint_eq(raw.entries, 50);
	ck_assert_uint_eq(bound.entries, 50);
	ck_assert_uint_eq(raw.first_ip, 150 * 0x1000);
	ck_assert_uint_eq(bound.first_ip, 150 * 0x1000);
	/* One thread was written; the others were deduced from the samples. */
	OK(TBRW_bind_enumerate_threads(ptr, watch_bound_tids, &tids, 0));
	OK(TBRW_bind_enumerate_threads(ptr, watch_bound_tids, &later, 3));
	ck_assert_uint_eq(tids.entries, 20);
	ck_assert_uint_eq(later.entries, 17);
	FAILS(TBRW_bind_enumerate_modules(ptr, watch_bound_modules, &bound, 201),
	      VT_INVALID_READ_START);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* FALSE ends with success, anything else is passed on; there is more than one batch to stop in. */
START_TEST(stop_and_error)
{
	static const struct {
		TBRW_U32 answer;
		TBRW_U32 result;
	} cases[] = {{FALSE, VT_SUCCESS}, {VT_NO_MEMORY, VT_NO_MEMORY}, {4711, 4711}};
	TBRW_PTR ptr = open_bound();

	for (size_t i = 0; i < 3; i++) {
		for (unsigned stop = 1; stop <= 2; stop++) {
			struct watch raw = {.stop_at = stop, .answer = cases[i].answer};
			struct watch bound = raw, module = raw;

			FAILS(TBRW_enumerate_data(ptr, 0, watch_data, &raw, 0), cases[i].result);
			FAILS(TBRW_bind_enumerate_data(ptr, 0, watch_bound_data, &bound, 0),
			      cases[i].result);
			ck_assert_uint_eq(raw.calls, stop);
			ck_assert_uint_eq(bound.calls, stop);
			ck_assert_uint_lt(raw.entries, SCENARIO_SAMPLES);
			if (stop == 1)
				FAILS(TBRW_bind_enumerate_modules(ptr, watch_bound_modules, &module,
								  0),
				      cases[i].result);
		}
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* 5.8: the size is told when the buffer is too small; a larger buffer is not touched behind it. */
START_TEST(size_query)
{
	TBRW_PTR ptr = open_bound();
	TBRW_U32 needed = 0, used = 0;

	OK(TBRW_reading_section(ptr, TBRW_HARDWARE_SECTION));
	FAILS(TBRW_get_system(ptr, 0, NULL, &needed), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_gt(needed, 40 * sizeof(TBRW_CPU));
	unsigned char *buffer = malloc(needed + 16);
	memset(buffer, 0xee, needed + 16);
	TBRW_SYSTEM *system = (TBRW_SYSTEM *)(void *)buffer;
	for (TBRW_U32 size = 0; size < needed; size += 7) {
		FAILS(TBRW_get_system(ptr, size, system, &used), VT_BUFFER_TOO_SMALL);
		ck_assert_uint_eq(used, needed);
		ck_assert_uint_eq(buffer[0], 0xee);
	}
	FAILS(TBRW_get_system(ptr, needed, NULL, &used), VT_BUFFER_NULL);
	OK(TBRW_get_system(ptr, needed + 16, system, &used));
	ck_assert_uint_eq(used, needed);
	ck_assert_uint_eq(buffer[needed], 0xee);
	ck_assert_ptr_eq(system->node_array, system + 1);
	ck_assert_uint_eq(system->node_array->cpu_array[39].cpu_number, 39);
	ck_assert_uint_eq(system->node_array->cpu_array[39]
				  .cpu_arch_array->cpuid_ia32_array->cpuid_edx,
			  4);
	free(buffer);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {threads_on_different_files,
				      threads_reading_one_file,
				      start_index,
				      start_index_of_modules,
				      stop_and_error,
				      size_query};

	return run_suite(suite_of("handles", tests, sizeof(tests) / sizeof(*tests)));
}
