/* The process/thread section, and the processes and threads that bind deduced behind it. */
#include "tbrw/api/place.h"
#include "tbrw/bind/bind.h"

/* ---- Writing ---- */

TBRW_U32 TBRW_add_process(TBRW_PTR ptr, TBRW_PID *process)
{
	return tb5_place_add(ptr, TB5_NO_STREAM, TB5_PROCESSES, process);
}

TBRW_U32 TBRW_add_thread(TBRW_PTR ptr, TBRW_TID *thread)
{
	return tb5_place_add(ptr, TB5_NO_STREAM, TB5_THREADS, thread);
}

/* ---- Reading ---- */

static uint64_t count_processes(struct tb5_file *file)
{
	uint64_t total = tb5_processes_written(file);

	if (file->bound)
		total += tb5_seq_size(tb5_stream_seq(file->bind.pid, TB5_DATA)) / sizeof(TBRW_PID);
	return total;
}

static uint64_t count_threads(struct tb5_file *file)
{
	/* Its results are for the written threads first: tb5_bind_find has seen to that. */
	return file->bound ? tb5_seq_size(tb5_stream_seq(file->bind.tid, TB5_DATA)) /
				     sizeof(struct tb5_bind_tid)
			   : tb5_threads_written(file);
}

static TBRW_U32 read_process(struct tb5_file *file, uint64_t index, TBRW_PID *record)
{
	uint64_t written = tb5_processes_written(file);

	if (index < written || !file->bound)
		return tb5_record_read(file, tb5_file_seq(file, TB5_PROCESSES), index, record,
				       sizeof(*record));
	return tb5_record_read(file, tb5_stream_seq(file->bind.pid, TB5_DATA), index - written,
			       record, sizeof(*record));
}

static TBRW_U32 read_thread(struct tb5_file *file, uint64_t index, TBRW_TID *record)
{
	struct tb5_bind_tid entry;

	if (index < tb5_threads_written(file) || !file->bound)
		return tb5_record_read(file, tb5_file_seq(file, TB5_THREADS), index, record,
				       sizeof(*record));
	if (index >= count_threads(file))
		return VT_ENTRY_NOT_FOUND;
	TBRW_U32 code = tb5_seq_read(tb5_stream_seq(file->bind.tid, TB5_DATA), &file->cache,
				     index * sizeof(entry), &entry, sizeof(entry));
	if (code != VT_SUCCESS)
		return code;
	if (entry.tid.tid_size != sizeof(entry.tid))
		return VT_INVALID_SAMPLE_FILE;
	*record = entry.tid;
	return VT_SUCCESS;
}

static TBRW_U32 fetch_processes(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
				void *records)
{
	TBRW_PID *out = records;
	TBRW_U32 code = VT_SUCCESS;

	(void)source;
	for (TBRW_U32 i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_process(file, index + i, &out[i]);
	return code;
}

static TBRW_U32 fetch_threads(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			      void *records)
{
	TBRW_TID *out = records;
	TBRW_U32 code = VT_SUCCESS;

	(void)source;
	for (TBRW_U32 i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_thread(file, index + i, &out[i]);
	return code;
}

/* The file, with its bind results known, if the section is not being written. */
static TBRW_U32 begin_get_one(TBRW_PTR ptr, const void *out, struct tb5_file **file)
{
	TBRW_U32 code = tb5_file_get(ptr, file);

	if (code != VT_SUCCESS)
		return code;
	if ((*file)->sections[TBRW_PROCESS_THREAD_SECTION].state == TB5_WRITING)
		return VT_SECTION_NOT_READABLE;
	code = tb5_bind_find(*file);
	/* Results that do not fit are not used; what was written can be read all the same. */
	if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
		return code;
	return out ? VT_SUCCESS : VT_UNEXPECTED_NULL_PTR;
}

TBRW_U32 TBRW_get_one_pid(TBRW_PTR ptr, TBRW_U64 pid_index, const TBRW_PID **p_pid)
{
	struct tb5_file *file;
	TBRW_PID record;
	TBRW_U32 code = begin_get_one(ptr, p_pid, &file);

	if (code == VT_SUCCESS)
		code = read_process(file, pid_index, &record);
	if (code != VT_SUCCESS)
		return code;
	file->one_pid = record;
	*p_pid = &file->one_pid;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_get_one_tid(TBRW_PTR ptr, TBRW_U64 tid_index, const TBRW_TID **p_tid)
{
	struct tb5_file *file;
	TBRW_TID record;
	TBRW_U32 code = begin_get_one(ptr, p_tid, &file);

	if (code == VT_SUCCESS)
		code = read_thread(file, tid_index, &record);
	if (code != VT_SUCCESS)
		return code;
	file->one_tid = record;
	*p_tid = &file->one_tid;
	return VT_SUCCESS;
}

struct process_emit {
	TBRW_PID_CALLBACK *process;
	TBRW_TID_CALLBACK *thread;
	void *user;
};

static TBRW_U32 emit_processes(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct process_emit *e = context;

	return e->process(records, size, count, e->user);
}

static TBRW_U32 emit_threads(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct process_emit *e = context;

	return e->thread(records, size, count, e->user);
}

static TBRW_U32 begin_enumerate(TBRW_PTR ptr, bool has_callback, struct tb5_file **file)
{
	struct tb5_place place;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_place_read(ptr, TB5_NO_STREAM, TB5_PROCESSES, &place, &seq);

	return code == VT_SUCCESS ? begin_get_one(ptr, has_callback ? ptr : NULL, file) : code;
}

TBRW_U32 TBRW_enumerate_processes(TBRW_PTR ptr, TBRW_PID_CALLBACK *callback_func, void *user_ptr,
				  TBRW_U64 start_index)
{
	struct process_emit emit = {callback_func, NULL, user_ptr};
	struct tb5_file *file;
	TBRW_U32 code = begin_enumerate(ptr, callback_func != NULL, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_enumerate(file, fetch_processes, NULL, count_processes(file), sizeof(TBRW_PID),
			     start_index, emit_processes, &emit);
}

TBRW_U32 TBRW_enumerate_threads(TBRW_PTR ptr, TBRW_TID_CALLBACK *callback_func, void *user_ptr,
				TBRW_U64 start_index)
{
	struct process_emit emit = {NULL, callback_func, user_ptr};
	struct tb5_file *file;
	TBRW_U32 code = begin_enumerate(ptr, callback_func != NULL, &file);

	if (code != VT_SUCCESS)
		return code;
	return tb5_enumerate(file, fetch_threads, NULL, count_threads(file), sizeof(TBRW_TID),
			     start_index, emit_threads, &emit);
}

/* ---- Threads with their processes ---- */

struct bound_threads {
	struct tb5_file *file;
	BIND_TID_CALLBACK *callback;
	void *user;
	uint64_t at;
};

/* Results are gathered in small runs, so that their table fits on the stack. */
#define BOUND_THREADS_RUN 512u

static TBRW_U32 emit_bound_threads(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct bound_threads *e = context;
	const TBRW_TID *threads = records;

	(void)size;
	for (TBRW_U32 done = 0; done < count;) {
		TID_BIND_STRUCT table[BOUND_THREADS_RUN];
		TBRW_U32 n = count - done < BOUND_THREADS_RUN ? count - done : BOUND_THREADS_RUN;
		TBRW_U32 code = VT_SUCCESS;

		for (TBRW_U32 i = 0; code == VT_SUCCESS && i < n; i++)
			code = tb5_seq_read(tb5_stream_seq(e->file->bind.tid, TB5_DATA),
					    &e->file->cache,
					    (e->at + i) * sizeof(struct tb5_bind_tid),
					    &table[i].pid_index, sizeof(table[i].pid_index));
		if (code != VT_SUCCESS)
			return code;
		code = e->callback(threads + done, n * (TBRW_U32)sizeof(*threads), n, table,
				   n * (TBRW_U32)sizeof(*table), e->user);
		if (code != TRUE)
			return code;
		e->at += n;
		done += n;
	}
	return TRUE;
}

TBRW_U32 TBRW_bind_enumerate_threads(TBRW_PTR ptr, BIND_TID_CALLBACK *callback_func, void *user_ptr,
				     TBRW_U64 start_index)
{
	struct bound_threads emit = {NULL, callback_func, user_ptr, start_index};
	TBRW_U32 code = tb5_file_get(ptr, &emit.file);

	if (code == VT_SUCCESS)
		code = tb5_bind_find(emit.file);
	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	if (!emit.file->bound)
		return VT_TB5_IS_NOT_BOUND;
	return tb5_enumerate(emit.file, fetch_threads, NULL, count_threads(emit.file),
			     sizeof(TBRW_TID), start_index, emit_bound_threads, &emit);
}
