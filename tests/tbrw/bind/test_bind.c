/* Which module, process and thread a sample is given. */
#include "tests/tbrw/support.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NONE TBRW_INDEX_NONE

struct bound {
	DATA_BIND_STRUCT *results;
	size_t count;
	size_t capacity;
};

static TBRW_U32 collect(const void *data, TBRW_U32 size, TBRW_U64 n, const DATA_BIND_STRUCT *table,
			TBRW_U32 table_size, void *user)
{
	struct bound *b = user;

	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(size, n * sizeof(struct sample));
	ck_assert_uint_eq(table_size, n * sizeof(*table));
	ck_assert_uint_le(b->count + n, b->capacity);
	memcpy(b->results + b->count, table, table_size);
	b->count += n;
	return TRUE;
}

/* Binds and gives the results of all samples. */
static void bind(TBRW_PTR ptr, DATA_BIND_STRUCT *results, size_t capacity)
{
	struct bound b = {results, 0, capacity};

	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 0));
	ck_assert_uint_eq(b.count, capacity);
}

static void write_modules(TBRW_PTR ptr, const TBRW_MODULE *modules, size_t count)
{
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < count; i++) {
		TBRW_MODULE m = modules[i];

		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
}

/* The record that says when `m` was unloaded, as the collector writes it. */
static TBRW_MODULE unloaded(TBRW_MODULE m, uint64_t when)
{
	m.module_flags = TBRW_MODULE_UNLOADED | TBRW_MODULE_TSC_USED;
	m.module_unload_tsc = when;
	return m;
}

/* Binds `samples` against `modules` in a file of their own and compares the module indices. */
static void expect_modules(const TBRW_MODULE *modules, size_t module_count,
			   const struct sample *samples, const uint64_t *expected, size_t count)
{
	TBRW_PTR ptr = open_file("modules.tb5", CREATE);
	DATA_BIND_STRUCT results[32];

	ck_assert_uint_le(count, 32);
	write_modules(ptr, modules, module_count);
	write_samples(ptr, samples, count);
	bind(ptr, results, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(results[i].module_index == expected[i],
			      "sample %zu: module %lld, not %lld", i,
			      (long long)results[i].module_index, (long long)expected[i]);
	OK(TBRW_close(ptr));
}

START_TEST(module_edges)
{
	const TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 0, L"/a"),
				       module_of(1, 0x1100, 0x100, 0, L"/b"),
				       module_of(2, 0x1000, 0x100, 0, L"/c")};
	const struct sample samples[] = {sample_of(1, 1, 0xfff, 5),  sample_of(1, 1, 0x1000, 5),
					 sample_of(1, 1, 0x10ff, 5), sample_of(1, 1, 0x1100, 5),
					 sample_of(1, 1, 0x11ff, 5), sample_of(1, 1, 0x1200, 5),
					 sample_of(2, 2, 0x1000, 5), sample_of(2, 2, 0x1100, 5),
					 sample_of(3, 3, 0x1000, 5)};
	const uint64_t expected[] = {NONE, 0, 0, 1, 1, NONE, 2, NONE, NONE};

	expect_modules(modules, 3, samples, expected, 9);
}
END_TEST

START_TEST(module_times)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20)};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 9), sample_of(1, 1, 0x1000, 10),
					 sample_of(1, 1, 0x1000, 19), sample_of(1, 1, 0x1000, 20)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	expect_modules(modules, 2, samples, expected, 4);
}
END_TEST

START_TEST(module_one_record_with_both_times)
{
	TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 9), sample_of(1, 1, 0x1000, 10),
					 sample_of(1, 1, 0x1000, 19), sample_of(1, 1, 0x1000, 20)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	a.module_unload_tsc = 20;
	expect_modules(&a, 1, samples, expected, 4);
}
END_TEST

START_TEST(module_reloaded_at_one_address)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x200, 30, L"/b");
	const TBRW_MODULE again = module_of(1, 0x1000, 0x100, 50, L"/a");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20), b, unloaded(b, 40), again};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x1010, 35), sample_of(1, 1, 0x1110, 35),
					 sample_of(1, 1, 0x1010, 45), sample_of(1, 1, 0x1010, 55),
					 sample_of(1, 1, 0x1110, 55)};
	const uint64_t expected[] = {0, NONE, 2, 2, NONE, 4, NONE};

	expect_modules(modules, 5, samples, expected, 7);
}
END_TEST

/* Each belongs to the load that it names, whatever the order. */
START_TEST(module_unload_records_come_first)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	const TBRW_MODULE modules[] = {unloaded(b, 40), unloaded(a, 35), b, a};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 37),
					 sample_of(1, 1, 0x1010, 25), sample_of(1, 1, 0x1010, 45)};
	const uint64_t expected[] = {3, 2, 3, NONE};

	expect_modules(modules, 4, samples, expected, 4);
}
END_TEST

/* An unload notification as the guide describes it: the event's time is the unload's. */
START_TEST(module_unload_by_event_time)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	TBRW_MODULE gone_a = unloaded(a, UINT64_MAX);
	TBRW_MODULE gone_b = unloaded(b, 0);

	gone_a.module_event_when = 20;
	gone_b.module_event_when = 40;
	const TBRW_MODULE modules[] = {a, gone_a, b, gone_b};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x1010, 35), sample_of(1, 1, 0x1010, 45)};
	const uint64_t expected[] = {0, NONE, 2, NONE};

	expect_modules(modules, 4, samples, expected, 4);
}
END_TEST

START_TEST(module_unload_without_load)
{
	TBRW_MODULE alone = unloaded(module_of(1, 0x1000, 0x100, 10, L"/a"), 20);
	TBRW_MODULE untimed = unloaded(module_of(1, 0x2000, 0x100, 15, L"/b"), UINT64_MAX);
	const TBRW_MODULE modules[] = {alone, untimed};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x2010, 5), sample_of(1, 1, 0x2010, 20)};
	const uint64_t expected[] = {0, NONE, NONE, NONE};

	expect_modules(modules, 2, samples, expected, 4);
}
END_TEST

/* The later load hides the older one while both are there. */
START_TEST(module_overlapping)
{
	const TBRW_MODULE old = module_of(1, 0x1000, 0x1000, 10, L"/old");
	const TBRW_MODULE young = module_of(1, 0x1800, 0x1000, 20, L"/young");
	const TBRW_MODULE modules[] = {young, unloaded(young, 30), old};
	const struct sample samples[] = {sample_of(1, 1, 0x1900, 15), sample_of(1, 1, 0x1900, 25),
					 sample_of(1, 1, 0x1900, 35), sample_of(1, 1, 0x1100, 25),
					 sample_of(1, 1, 0x2700, 25), sample_of(1, 1, 0x2700, 15)};
	const uint64_t expected[] = {2, 0, 2, 2, 0, NONE};

	expect_modules(modules, 3, samples, expected, 6);
}
END_TEST

START_TEST(module_same_load_time_last_written_wins)
{
	const TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 10, L"/a"),
				       module_of(1, 0x1000, 0x100, 10, L"/b")};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 10)};
	const uint64_t expected[] = {1};

	expect_modules(modules, 2, samples, expected, 1);
}
END_TEST

START_TEST(module_global)
{
	TBRW_MODULE modules[] = {module_of(77, 0xffff800000000000, 0x1000, 0, L"vmlinux"),
				 module_of(1, 0x1000, 0x1000, 0, L"/a"),
				 module_of(77, 0x1000, 0x1000, 10, L"vdso")};
	const struct sample samples[] = {sample_of(1, 1, 0xffff800000000123, 5),
					 sample_of(2, 2, 0xffff800000000fff, 5),
					 sample_of(1, 1, 0x1100, 5),
					 sample_of(1, 1, 0x1100, 15),
					 sample_of(2, 2, 0x1100, 5),
					 sample_of(2, 2, 0x1100, 15)};
	const uint64_t expected[] = {0, 0, 1, 2, NONE, 2};

	modules[0].module_flags |= TBRW_MODULE_GLOBAL_LOAD;
	modules[2].module_flags |= TBRW_MODULE_GLOBAL_LOAD;
	expect_modules(modules, 3, samples, expected, 6);
}
END_TEST

START_TEST(module_timed_by_sample_number)
{
	TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 1, L"/a")};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 1000),
					 sample_of(1, 1, 0x1000, 1001),
					 sample_of(1, 1, 0x1000, 1002),
					 sample_of(1, 1, 0x1000, 1003)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	modules[0].module_flags = TBRW_MODULE_LOADED;
	modules[0].reserved_for_legacy = 3;
	expect_modules(modules, 1, samples, expected, 4);
}
END_TEST

START_TEST(module_end_of_address_space)
{
	const TBRW_MODULE modules[] = {module_of(1, UINT64_MAX - 0xfff, UINT64_MAX, 0, L"/a"),
				       module_of(1, 0x5000, 0, 0, L"/empty")};
	const struct sample samples[] = {sample_of(1, 1, UINT64_MAX - 1, 5),
					 sample_of(1, 1, 0x5000, 5), sample_of(1, 1, 0, 5)};
	const uint64_t expected[] = {0, NONE, NONE};

	expect_modules(modules, 2, samples, expected, 3);
}
END_TEST

START_TEST(unsorted_samples)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20), b};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 99), sample_of(1, 1, 0x1010, 11),
					 sample_of(1, 1, 0x1010, 25), sample_of(1, 1, 0x1010, 30),
					 sample_of(1, 1, 0x1010, 0)};
	const uint64_t expected[] = {2, 0, NONE, 2, NONE};

	expect_modules(modules, 3, samples, expected, 5);
}
END_TEST

/* ---- Processes and threads ---- */

START_TEST(pid_reused)
{
	TBRW_PTR ptr = open_file("pid.tb5", CREATE);
	TBRW_PID processes[] = {process_of(1, TBRW_PID_CREATE, 100, L"second"),
				process_of(1, TBRW_PID_TERMINATE, 50, NULL),
				process_of(1, TBRW_PID_CREATE, 10, L"first"),
				process_of(1, TBRW_PID_TERMINATE, 200, NULL)};
	/* The first process's module has no unload record, and must not leak into the second. */
	const TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x1000, 10, L"/first"),
				       module_of(1, 0x1800, 0x1000, 100, L"/second")};
	const struct sample samples[] = {sample_of(1, 1, 0x1100, 10),  sample_of(1, 1, 0x1900, 50),
					 sample_of(1, 1, 0x1100, 60),  sample_of(1, 1, 0x1100, 150),
					 sample_of(1, 1, 0x1900, 150), sample_of(1, 1, 0x1900, 200),
					 sample_of(1, 1, 0x1900, 201), sample_of(1, 1, 0x1900, 5)};
	const uint64_t modules_expected[] = {0, 0, NONE, NONE, 1, 1, NONE, NONE};
	const uint64_t pids_expected[] = {2, 2, 4, 0, 0, 0, 5, 6};
	DATA_BIND_STRUCT results[8];
	const TBRW_PID *pid;

	OK(TBRW_writing_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	for (size_t i = 0; i < 4; i++)
		OK(TBRW_add_process(ptr, &processes[i]));
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	write_modules(ptr, modules, 2);
	write_samples(ptr, samples, 8);
	bind(ptr, results, 8);
	for (size_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(results[i].module_index, modules_expected[i]);
		ck_assert_uint_eq(results[i].pid_index, pids_expected[i]);
	}
	OK(TBRW_get_one_pid(ptr, 2, &pid));
	ck_assert(wcscmp(text_of(ptr, pid->pid_name), L"first") == 0);
	OK(TBRW_get_one_pid(ptr, 5, &pid));
	ck_assert_uint_eq(pid->pid_id, 1);
	ck_assert_uint_eq(pid->pid_event_when, 201);
	ck_assert(pid->pid_flags & TBRW_PID_DEDUCED);
	FAILS(TBRW_get_one_pid(ptr, 7, &pid), VT_ENTRY_NOT_FOUND);
	OK(TBRW_close(ptr));
}
END_TEST

struct threads {
	uint64_t pid_index[16];
	TBRW_TID tids[16];
	size_t count;
};

static TBRW_U32 collect_threads(const TBRW_TID *tids, TBRW_U32 size, TBRW_U64 n,
				const TID_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	struct threads *t = user;

	ck_assert_uint_eq(size, n * sizeof(*tids));
	ck_assert_uint_eq(table_size, n * sizeof(*table));
	for (size_t i = 0; i < n; i++, t->count++) {
		ck_assert_uint_lt(t->count, 16);
		t->pid_index[t->count] = table[i].pid_index;
		t->tids[t->count] = tids[i];
	}
	return TRUE;
}

START_TEST(tid_reused)
{
	TBRW_PTR ptr = open_file("tid.tb5", CREATE);
	TBRW_PID process = process_of(1, TBRW_PID_CREATE, 0, L"p");
	TBRW_TID threads[] = {thread_of(1, 7, TBRW_TID_CREATE, 10, L"one"),
			      thread_of(1, 7, TBRW_TID_TERMINATE, 20, NULL),
			      thread_of(1, 7, TBRW_TID_CREATE, 30, L"two")};
	const struct sample samples[] = {sample_of(1, 7, 0, 5),  sample_of(1, 7, 0, 15),
					 sample_of(1, 7, 0, 25), sample_of(1, 7, 0, 35),
					 sample_of(1, 8, 0, 35), sample_of(2, 7, 0, 35)};
	const uint64_t expected[] = {3, 0, 3, 2, 4, 5};
	struct threads seen = {.count = 0};
	DATA_BIND_STRUCT results[6];

	OK(TBRW_writing_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_add_process(ptr, &process));
	for (size_t i = 0; i < 3; i++)
		OK(TBRW_add_thread(ptr, &threads[i]));
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	write_samples(ptr, samples, 6);
	bind(ptr, results, 6);
	for (size_t i = 0; i < 6; i++)
		ck_assert_uint_eq(results[i].tid_index, expected[i]);
	OK(TBRW_bind_enumerate_threads(ptr, collect_threads, &seen, 0));
	ck_assert_uint_eq(seen.count, 6);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(seen.pid_index[i], 0);
	ck_assert_uint_eq(seen.pid_index[5], 1);
	ck_assert(wcscmp(text_of(ptr, seen.tids[2].tid_name), L"two") == 0);
	ck_assert_uint_eq(seen.tids[4].tid_id, 8);
	ck_assert(seen.tids[4].tid_flags & TBRW_TID_DEDUCED);
	OK(TBRW_close(ptr));
}
END_TEST

static TBRW_U32 collect_pids(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 n, void *user)
{
	uint32_t *ids = user;

	ck_assert_uint_eq(size, n * sizeof(*pids));
	for (TBRW_U32 i = 0; i < n; i++)
		*ids = *ids * 10 + pids[i].pid_id;
	return TRUE;
}

static TBRW_U32 collect_module_pids(const TBRW_MODULE *modules, TBRW_U32 size, TBRW_U64 n,
				    const MODULE_BIND_STRUCT *table, TBRW_U32 table_size,
				    void *user)
{
	uint64_t *out = user;

	ck_assert_uint_eq(size, n * sizeof(*modules));
	ck_assert_uint_eq(table_size, n * sizeof(*table));
	memcpy(out, table, table_size);
	return TRUE;
}

/* An exec makes two of what has one pid: each has its own samples, modules and name. */
START_TEST(processes_deduced)
{
	TBRW_PTR ptr = open_file("deduced.tb5", CREATE);
	TBRW_MODULE modules[] = {module_of(4, 0x1000, 0x1000, 3, L"/bin/shell"),
				 module_of(4, 0x9000, 0x1000, 9, L"/lib/libc"),
				 module_of(4, 0x1000, 0x1000, 7, L"/bin/final"),
				 module_of(0, 0xff00000000000000, 0x1000, 0, L"kernel")};
	const struct sample samples[] = {sample_of(6, 60, 0x1100, 5), sample_of(4, 40, 0x1100, 8),
					 sample_of(4, 41, 0x1100, 4)};
	DATA_BIND_STRUCT results[3];
	uint64_t module_pids[4];
	uint32_t ids = 0;
	const TBRW_PID *pid;
	const TBRW_TID *tid;

	modules[0].module_flags |= TBRW_MODULE_IS_EXE | TBRW_MODULE_1ST_MODULE_REC_IN_PROCESS;
	modules[2].module_flags |= TBRW_MODULE_IS_EXE;
	modules[3].module_flags |= TBRW_MODULE_GLOBAL_LOAD | TBRW_MODULE_IS_EXE;
	write_modules(ptr, modules, 4);
	write_samples(ptr, samples, 3);
	FAILS(TBRW_reading_section(ptr, TBRW_PROCESS_THREAD_SECTION), VT_SECTION_NOT_EXIST);
	bind(ptr, results, 3);

	ck_assert_uint_eq(results[0].pid_index, 2);
	ck_assert_uint_eq(results[1].pid_index, 1);
	ck_assert_uint_eq(results[2].pid_index, 0);
	ck_assert_uint_eq(results[1].module_index, 2);
	ck_assert_uint_eq(results[2].module_index, 0);
	OK(TBRW_get_one_pid(ptr, 0, &pid));
	ck_assert_uint_eq(pid->pid_id, 4);
	ck_assert_uint_eq(pid->pid_event_when, 3);
	ck_assert(wcscmp(text_of(ptr, pid->pid_name), L"/bin/shell") == 0);
	OK(TBRW_get_one_pid(ptr, 1, &pid));
	ck_assert_uint_eq(pid->pid_id, 4);
	ck_assert_uint_eq(pid->pid_event_when, 7);
	ck_assert(wcscmp(text_of(ptr, pid->pid_name), L"/bin/final") == 0);
	OK(TBRW_get_one_pid(ptr, 2, &pid));
	ck_assert_uint_eq(pid->pid_id, 6);
	ck_assert_uint_eq(pid->pid_name.soi_uniqueid, 0);
	OK(TBRW_get_one_tid(ptr, results[2].tid_index, &tid));
	ck_assert_uint_eq(tid->tid_id, 41);
	ck_assert_uint_eq(tid->tid_associated_pid, 4);

	OK(TBRW_reading_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_enumerate_processes(ptr, collect_pids, &ids, 0));
	ck_assert_uint_eq(ids, 446);
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_bind_enumerate_modules(ptr, collect_module_pids, module_pids, 0));
	ck_assert_uint_eq(module_pids[0], 0);
	ck_assert_uint_eq(module_pids[1], 1);
	ck_assert_uint_eq(module_pids[2], 1);
	ck_assert_uint_eq(module_pids[3], NONE);
	OK(TBRW_close(ptr));
}
END_TEST

/* ---- Binding as an operation ---- */

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
	struct bound b = {results, 0, 2};
	TBRW_U32 bound, size, streams;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	FAILS(TBRW_get_size_of_data_bind_entry(ptr, 0, &size), VT_STREAM_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 0), VT_STREAM_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_modules(ptr, collect_module_pids, NULL, 0), VT_TB5_IS_NOT_BOUND);
	FAILS(TBRW_bind_enumerate_threads(ptr, collect_threads, NULL, 0), VT_TB5_IS_NOT_BOUND);
	FAILS(TBRW_unbind(ptr, 0), VT_STREAM_NOT_BOUND);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));

	ptr = open_file("small.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 1);
	OK(TBRW_get_number_data_streams(ptr, &streams));
	ck_assert_uint_eq(streams, 5);
	OK(TBRW_get_size_of_data_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 24);
	OK(TBRW_get_size_of_module_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 8);
	OK(TBRW_get_size_of_tid_bind_entry(ptr, 0, &size));
	ck_assert_uint_eq(size, 8);
	OK(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 0));
	ck_assert_uint_eq(b.count, 2);
	ck_assert_uint_eq(results[0].module_index, 0);
	ck_assert_uint_eq(results[1].module_index, NONE);
	b.count = 0;
	OK(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 1));
	ck_assert_uint_eq(b.count, 1);
	ck_assert_uint_eq(results[0].module_index, NONE);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 3), VT_INVALID_READ_START);
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(bind_of_a_read_only_file)
{
	DATA_BIND_STRUCT results[2];
	const TBRW_PID *pid;
	TBRW_U32 bound;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ);
	bind(ptr, results, 2);
	ck_assert_uint_eq(results[0].module_index, 0);
	OK(TBRW_get_one_pid(ptr, 0, &pid));
	OK(TBRW_verify(ptr));
	OK(TBRW_unbind(ptr, 0));
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	bind(ptr, results, 2);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	OK(TBRW_close(ptr));
}
END_TEST

/* All of the results or none. */
START_TEST(unbind_while_results_are_read)
{
	TBRW_U32 bound;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_reading_stream(ptr, 3));
	FAILS(TBRW_unbind(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 1);
	OK(TBRW_reading_stream(ptr, 1));
	OK(TBRW_done_stream(ptr, 1));
	OK(TBRW_done_stream(ptr, 3));
	OK(TBRW_unbind(ptr, 0));
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(unbind_is_stored)
{
	DATA_BIND_STRUCT results[2];
	TBRW_U32 bound;

	write_small("small.tb5");
	TBRW_PTR ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_unbind(ptr, 0));
	FAILS(TBRW_reading_stream(ptr, 1), VT_STREAM_NOT_EXIST);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ_WRITE);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	bind(ptr, results, 2);
	OK(TBRW_close(ptr));
	ptr = open_file("small.tb5", READ);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 1);
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
	struct bound b = {&result, 0, 1};
	TBRW_U32 bound;

	write_samples(ptr, &s, 1);
	bind(ptr, &result, 1);
	ck_assert_uint_eq(result.module_index, NONE);
	write_modules(ptr, &module, 1);
	OK(TBRW_is_bound(ptr, 0, &bound));
	ck_assert_uint_eq(bound, 0);
	FAILS(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 0), VT_UNEXPECTED_BIND_MISMATCH);
	bind(ptr, &result, 1);
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
	struct bound b = {results, 0, SAMPLES};

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
	OK(TBRW_bind_enumerate_data(ptr, 0, collect, &b, 0));
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
		module_edges,
		module_times,
		module_one_record_with_both_times,
		module_reloaded_at_one_address,
		module_unload_records_come_first,
		module_unload_by_event_time,
		module_unload_without_load,
		module_overlapping,
		module_same_load_time_last_written_wins,
		module_global,
		module_timed_by_sample_number,
		module_end_of_address_space,
		unsorted_samples,
		pid_reused,
		tid_reused,
		processes_deduced,
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
