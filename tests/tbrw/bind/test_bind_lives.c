/* Which process and thread a sample is given. */
#include "tests/tbrw/support.h"
#include <string.h>

#define NONE TBRW_INDEX_NONE

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
	bind_samples(ptr, results, 8);
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
	bind_samples(ptr, results, 6);
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
	bind_samples(ptr, results, 3);

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

int main(void)
{
	const TTest *const tests[] = {
		pid_reused,
		tid_reused,
		processes_deduced,
	};

	return run_suite(suite_of("bind lives", tests, sizeof(tests) / sizeof(*tests)));
}
