/* The process/thread section, and behind it the processes and threads deduced by bind. */
#include "tbrw/api/access.h"
#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"

/* ---- Writing ---- */

TBRW_U32 TBRW_add_process(TBRW_PTR ptr, TBRW_PID *process)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_PROCESSES, process);
}

TBRW_U32 TBRW_add_thread(TBRW_PTR ptr, TBRW_TID *thread)
{
	return tb5_access_add(ptr, TB5_NO_STREAM, TB5_THREADS, thread);
}

/* ---- Reading ---- */

static uint64_t count_records(struct tb5_file *file, unsigned content)
{
	if (content == TB5_PROCESSES)
		return tb5_processes_written(file) +
		       (file->bound ? tb5_seq_size(tb5_stream_seq(file->bind.pid, TB5_DATA)) /
					      sizeof(TBRW_PID)
				    : 0);
	/* Bind's results are for the written threads first: tb5_bind_find has checked this. */
	return file->bound ? tb5_seq_size(tb5_stream_seq(file->bind.tid, TB5_DATA)) /
				     sizeof(struct tb5_bind_tid)
			   : tb5_threads_written(file);
}

static TBRW_U32 read_deduced_thread(struct tb5_file *file, uint64_t index, TBRW_TID *record)
{
	struct tb5_bind_tid entry;

	if (index >= count_records(file, TB5_THREADS))
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

static TBRW_U32 read_one(struct tb5_file *file, unsigned content, uint64_t index, void *record)
{
	uint32_t size = tb5_content_spec(content)->record_size;
	struct tb5_seq *seq = tb5_file_seq(file, content);
	uint64_t written = tb5_seq_size(seq) / size;

	if (index < written || !file->bound)
		return tb5_record_read(file, seq, index, record, size);
	if (content == TB5_THREADS)
		return read_deduced_thread(file, index, record);
	return tb5_record_read(file, tb5_stream_seq(file->bind.pid, TB5_DATA), index - written,
			       record, size);
}

/* A tb5_fetch for both contents; the source's sequence says for which one. */
static TBRW_U32 fetch_records(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			      void *records)
{
	const struct tb5_record_source *s = source;
	TBRW_U32 code = VT_SUCCESS;

	for (TBRW_U32 i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_one(file, s->seq->content, index + i,
				(char *)records + (size_t)i * s->size);
	return code;
}

/* Makes the results of bind known. Results that do not fit are not used; written records can be
 * read all the same. */
static TBRW_U32 find_deduced(struct tb5_file *file)
{
	TBRW_U32 code = VT_SECTION_NOT_READABLE;

	if (file->sections[TBRW_PROCESS_THREAD_SECTION].state != TB5_WRITING)
		code = tb5_bind_find(file);
	return code == VT_UNEXPECTED_BIND_MISMATCH ? VT_SUCCESS : code;
}

static TBRW_U32 count_all(struct tb5_file *file, unsigned content, uint64_t *count)
{
	TBRW_U32 code = find_deduced(file);

	*count = count_records(file, content);
	return code;
}

static TBRW_U32 get_one(TBRW_PTR ptr, unsigned content, uint64_t index, const void *out,
			struct tb5_file **file, void *record)
{
	TBRW_U32 code = tb5_file_get(ptr, file);

	if (code == VT_SUCCESS)
		code = find_deduced(*file);
	if (code == VT_SUCCESS && !out)
		code = VT_UNEXPECTED_NULL_PTR;
	return code == VT_SUCCESS ? read_one(*file, content, index, record) : code;
}

TBRW_U32 TBRW_get_one_pid(TBRW_PTR ptr, TBRW_U64 pid_index, const TBRW_PID **p_pid)
{
	struct tb5_file *file;
	TBRW_PID record;
	TBRW_U32 code = get_one(ptr, TB5_PROCESSES, pid_index, p_pid, &file, &record);

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
	TBRW_U32 code = get_one(ptr, TB5_THREADS, tid_index, p_tid, &file, &record);

	if (code != VT_SUCCESS)
		return code;
	file->one_tid = record;
	*p_tid = &file->one_tid;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_enumerate_processes(TBRW_PTR ptr, TBRW_PID_CALLBACK *callback_func, void *user_ptr,
				  TBRW_U64 start_index)
{
	struct tb5_callback callback = {TB5_PROCESSES, user_ptr, {.processes = callback_func}};

	return tb5_access_enumerate(ptr, TB5_NO_STREAM, start_index, callback, count_all,
				    fetch_records);
}

TBRW_U32 TBRW_enumerate_threads(TBRW_PTR ptr, TBRW_TID_CALLBACK *callback_func, void *user_ptr,
				TBRW_U64 start_index)
{
	struct tb5_callback callback = {TB5_THREADS, user_ptr, {.threads = callback_func}};

	return tb5_access_enumerate(ptr, TB5_NO_STREAM, start_index, callback, count_all,
				    fetch_records);
}

/* ---- Threads with their processes ---- */

struct bound_threads {
	struct tb5_file *file;
	BIND_TID_CALLBACK *callback;
	void *user;
	uint64_t at;
};

/* Results are gathered in small runs: their table fits on the stack. */
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
		code = tb5_bind_require(emit.file, callback_func != NULL, VT_TB5_IS_NOT_BOUND);
	if (code != VT_SUCCESS)
		return code;
	struct tb5_record_source source = {tb5_file_seq(emit.file, TB5_THREADS), sizeof(TBRW_TID)};
	return tb5_enumerate(emit.file, fetch_records, &source,
			     count_records(emit.file, TB5_THREADS), source.size, start_index,
			     emit_bound_threads, &emit);
}
