#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <stdlib.h>

/* ---- The streams of results ---- */

static uint64_t stream_entries(const struct tb5_stream *stream, size_t size)
{
	return tb5_seq_size(&stream->seqs[TB5_DATA - TB5_STREAM_FIRST]) / size;
}

static struct tb5_stream **bind_slot(struct tb5_bind_set *set, uint32_t type)
{
	switch (type) {
	case TBRW_BIND_DATA_INFORMATION_STREAM:
		return &set->data;
	case TBRW_BIND_MODULE_INFORMATION_STREAM:
		return &set->module;
	case TBRW_BIND_PID_INFORMATION_STREAM:
		return &set->pid;
	case TBRW_BIND_TID_INFORMATION_STREAM:
		return &set->tid;
	default:
		return NULL;
	}
}

/* The type of a stream, done and not dropped; *found false: the stream is not, or has no type. */
static TBRW_U32 stream_type(struct tb5_file *file, struct tb5_stream *stream, TBRW_U32 *type,
			    bool *found)
{
	TBRW_STREAM_INFO info;

	*found = false;
	if (stream->dropped || stream->whole.state != TB5_DONE)
		return VT_SUCCESS;
	TBRW_U32 code = tb5_record_read(file, tb5_stream_seq(stream, TB5_STREAM_INFO), 0, &info,
					sizeof(info));
	if (code == VT_ENTRY_NOT_FOUND)
		return VT_SUCCESS;
	*found = code == VT_SUCCESS;
	*type = info.stream_type;
	return code;
}

/* Calls `see` with each stream of a bind's results, and the stream's place in *set. */
static TBRW_U32 each_bind_stream(struct tb5_file *file, struct tb5_bind_set *set,
				 TBRW_U32 (*see)(struct tb5_file *file, struct tb5_stream *stream,
						 struct tb5_stream **slot))
{
	for (uint32_t n = 0; n < file->stream_count; n++) {
		TBRW_U32 type;
		bool found;
		TBRW_U32 code = stream_type(file, file->streams[n], &type, &found);
		struct tb5_stream **slot = found ? bind_slot(set, type) : NULL;
		if (code == VT_SUCCESS && slot)
			code = see(file, file->streams[n], slot);
		if (code != VT_SUCCESS)
			return code;
	}
	return VT_SUCCESS;
}

static TBRW_U32 collect(struct tb5_file *file, struct tb5_stream *stream, struct tb5_stream **slot)
{
	(void)file;
	*slot = stream;
	return VT_SUCCESS;
}

static bool bind_fits(struct tb5_file *file, const struct tb5_bind_set *set)
{
	uint64_t modules = tb5_seq_size(tb5_file_seq(file, TB5_MODULES)) / sizeof(TBRW_MODULE);
	struct tb5_layout layout;

	return tb5_layout_read(file, file->streams[0], &layout) == VT_SUCCESS &&
	       stream_entries(set->data, sizeof(DATA_BIND_STRUCT)) ==
		       stream_entries(file->streams[0], layout.entry_size) &&
	       stream_entries(set->module, sizeof(MODULE_BIND_STRUCT)) == modules &&
	       stream_entries(set->tid, sizeof(struct tb5_bind_tid)) >= tb5_threads_written(file);
}

TBRW_U32 tb5_bind_find(struct tb5_file *file)
{
	struct tb5_bind_set set = {NULL, NULL, NULL, NULL};

	if (file->bind_known)
		return VT_SUCCESS;
	file->bound = false;
	TBRW_U32 code = each_bind_stream(file, &set, collect);
	if (code != VT_SUCCESS)
		return code;
	if (set.data && set.module && set.pid && set.tid) {
		if (!bind_fits(file, &set))
			return VT_UNEXPECTED_BIND_MISMATCH;
		file->bind = set;
		file->bound = true;
	}
	file->bind_known = true;
	return VT_SUCCESS;
}

/* ---- Binding ---- */

/* The file, if data_stream is the one stream for binding. */
static TBRW_U32 bind_file(TBRW_PTR ptr, TBRW_U32 data_stream, struct tb5_file **file)
{
	struct tb5_stream *stream;
	TBRW_U32 code = tb5_file_get(ptr, file);

	if (code == VT_SUCCESS)
		code = tb5_file_stream(*file, data_stream, &stream);
	if (code != VT_SUCCESS)
		return code;
	return data_stream == 0 ? VT_SUCCESS : VT_INVALID_STREAM;
}

TBRW_U32 TBRW_is_bound(TBRW_PTR ptr, TBRW_U32 data_stream, TBRW_U32 *is_bound)
{
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code == VT_SUCCESS)
		code = tb5_file_stream(file, data_stream, &stream);
	if (code != VT_SUCCESS)
		return code;
	if (!is_bound)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_bind_find(file);
	if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
		return code;
	*is_bound = data_stream == 0 && file->bound;
	return VT_SUCCESS;
}

static bool in_use(const struct tb5_section *section)
{
	return section->state == TB5_WRITING || section->reading;
}

TBRW_U32 TBRW_dobind(TBRW_PTR ptr, TBRW_U32 data_stream)
{
	struct tb5_file *file;
	TBRW_U32 code = bind_file(ptr, data_stream, &file);

	if (code != VT_SUCCESS)
		return code;
	if (in_use(&file->streams[0]->whole))
		return VT_STREAM_ALREADY_IN_USE;
	if (in_use(&file->sections[TBRW_MODULE_SECTION]) ||
	    in_use(&file->sections[TBRW_PROCESS_THREAD_SECTION]))
		return VT_SECTION_ALREADY_IN_USE;
	code = tb5_bind_find(file);
	if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
		return code;
	return file->bound ? VT_SUCCESS : tb5_bind_run(file);
}

static TBRW_U32 check_unused(struct tb5_file *file, struct tb5_stream *stream,
			     struct tb5_stream **slot)
{
	(void)file;
	(void)slot;
	return stream->whole.reading ? VT_STREAM_ALREADY_IN_USE : VT_SUCCESS;
}

static TBRW_U32 drop(struct tb5_file *file, struct tb5_stream *stream, struct tb5_stream **slot)
{
	uint32_t number = tb5_stream_seq(stream, TB5_DATA)->stream;
	TBRW_U32 code = VT_SUCCESS;

	(void)slot;
	if (file->writable)
		code = tb5_file_mark(file, &file->store, TB5_KIND_STREAM_DROPPED, 0, number);
	if (code == VT_SUCCESS)
		stream->dropped = true;
	return code;
}

TBRW_U32 TBRW_unbind(TBRW_PTR ptr, TBRW_U32 data_stream)
{
	struct tb5_bind_set any = {NULL, NULL, NULL, NULL};
	struct tb5_file *file;
	TBRW_U32 code = bind_file(ptr, data_stream, &file);

	if (code == VT_SUCCESS)
		code = tb5_bind_find(file);
	if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
		return code;
	if (!file->bound && code == VT_SUCCESS)
		return VT_STREAM_NOT_BOUND;
	code = each_bind_stream(file, &any, check_unused);
	if (code == VT_SUCCESS)
		code = each_bind_stream(file, &any, drop);
	file->bind_known = false;
	return code;
}

/* ---- Reading the results ---- */

static TBRW_U32 bind_entry_size(TBRW_PTR ptr, TBRW_U32 data_stream, TBRW_U32 size, TBRW_U32 *out)
{
	TBRW_U32 bound;
	TBRW_U32 code = TBRW_is_bound(ptr, data_stream, &bound);

	if (code != VT_SUCCESS)
		return code;
	if (!out)
		return VT_UNEXPECTED_NULL_PTR;
	if (!bound)
		return VT_STREAM_NOT_BOUND;
	*out = size;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_get_size_of_data_bind_entry(TBRW_PTR ptr, TBRW_U32 data_stream,
					  TBRW_U32 *sizeof_data_bind_entry)
{
	return bind_entry_size(ptr, data_stream, sizeof(DATA_BIND_STRUCT), sizeof_data_bind_entry);
}

TBRW_U32 TBRW_get_size_of_module_bind_entry(TBRW_PTR ptr, TBRW_U32 data_stream,
					    TBRW_U32 *sizeof_module_bind_entry)
{
	return bind_entry_size(ptr, data_stream, sizeof(MODULE_BIND_STRUCT),
			       sizeof_module_bind_entry);
}

TBRW_U32 TBRW_get_size_of_tid_bind_entry(TBRW_PTR ptr, TBRW_U32 data_stream,
					 TBRW_U32 *sizeof_tid_bind_entry)
{
	return bind_entry_size(ptr, data_stream, sizeof(TID_BIND_STRUCT), sizeof_tid_bind_entry);
}

/* A run of records and the bind results beside it. */
struct bound_run {
	struct tb5_file *file;
	struct tb5_seq *results;
	size_t result_size;
	void *table;
	uint64_t at; /* of the run's first record */
	TBRW_U32 (*call)(struct bound_run *run, void *records, TBRW_U32 size, TBRW_U32 count);
	BIND_DATA_CALLBACK *data;
	BIND_MODULE_CALLBACK *module;
	void *user;
};

static TBRW_U32 call_data(struct bound_run *run, void *records, TBRW_U32 size, TBRW_U32 count)
{
	return run->data(records, size, count, run->table, count * (TBRW_U32)run->result_size,
			 run->user);
}

static TBRW_U32 call_module(struct bound_run *run, void *records, TBRW_U32 size, TBRW_U32 count)
{
	return run->module(records, size, count, run->table, count * (TBRW_U32)run->result_size,
			   run->user);
}

static TBRW_U32 emit_bound(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct bound_run *run = context;
	TBRW_U32 code = tb5_seq_read(run->results, &run->file->cache, run->at * run->result_size,
				     run->table, count * run->result_size);

	if (code != VT_SUCCESS)
		return code;
	run->at += count;
	return run->call(run, records, size, count);
}

/* Enumerates records in runs of at most TB5_RUN_SIZE bytes, and one result for each. */
static TBRW_U32 enumerate_bound(struct bound_run *run, tb5_fetch *fetch, void *source,
				uint64_t total, TBRW_U32 size, uint64_t start)
{
	size_t records = TB5_RUN_SIZE / size + 1;

	run->at = start;
	run->table = malloc(records * run->result_size);
	if (!run->table)
		return VT_NO_MEMORY;
	TBRW_U32 code =
		tb5_enumerate(run->file, fetch, source, total, size, start, emit_bound, run);
	free(run->table);
	return code;
}

TBRW_U32 TBRW_bind_enumerate_data(TBRW_PTR ptr, TBRW_U32 data_stream,
				  BIND_DATA_CALLBACK *callback_func, void *user_ptr,
				  TBRW_U64 start_index)
{
	struct bound_run run = {.result_size = sizeof(DATA_BIND_STRUCT),
				.call = call_data,
				.data = callback_func,
				.user = user_ptr};
	struct tb5_layout layout;
	TBRW_U32 code = bind_file(ptr, data_stream, &run.file);

	if (code == VT_SUCCESS)
		code = tb5_bind_find(run.file);
	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	if (!run.file->bound)
		return VT_STREAM_NOT_BOUND;
	code = tb5_layout_read(run.file, run.file->streams[0], &layout);
	if (code != VT_SUCCESS)
		return code;
	run.results = tb5_stream_seq(run.file->bind.data, TB5_DATA);
	struct tb5_record_source source = {tb5_stream_seq(run.file->streams[0], TB5_DATA),
					   layout.entry_size};
	return enumerate_bound(&run, tb5_fetch_entries, &source,
			       tb5_seq_size(source.seq) / source.size, source.size, start_index);
}

TBRW_U32 TBRW_bind_enumerate_modules(TBRW_PTR ptr, BIND_MODULE_CALLBACK *callback_func,
				     void *user_ptr, TBRW_U64 start_index)
{
	struct bound_run run = {.result_size = sizeof(MODULE_BIND_STRUCT),
				.call = call_module,
				.module = callback_func,
				.user = user_ptr};
	struct tb5_record_source source = {.size = sizeof(TBRW_MODULE)};
	TBRW_U32 code = tb5_file_get(ptr, &run.file);

	if (code == VT_SUCCESS)
		code = tb5_bind_find(run.file);
	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	if (!run.file->bound)
		return VT_TB5_IS_NOT_BOUND;
	run.results = tb5_stream_seq(run.file->bind.module, TB5_DATA);
	source.seq = tb5_file_seq(run.file, TB5_MODULES);
	return enumerate_bound(&run, tb5_fetch_records, &source,
			       tb5_seq_size(source.seq) / source.size, source.size, start_index);
}
