#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <stdlib.h>

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

TBRW_U32 TBRW_unbind(TBRW_PTR ptr, TBRW_U32 data_stream)
{
	struct tb5_file *file;
	TBRW_U32 code = bind_file(ptr, data_stream, &file);

	if (code == VT_SUCCESS)
		code = tb5_bind_find(file);
	if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
		return code;
	if (!file->bound && code == VT_SUCCESS)
		return VT_STREAM_NOT_BOUND;
	return tb5_bind_drop(file);
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
		code = tb5_bind_require(run.file, callback_func != NULL, VT_STREAM_NOT_BOUND);
	if (code != VT_SUCCESS)
		return code;
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
		code = tb5_bind_require(run.file, callback_func != NULL, VT_TB5_IS_NOT_BOUND);
	if (code != VT_SUCCESS)
		return code;
	run.results = tb5_stream_seq(run.file->bind.module, TB5_DATA);
	source.seq = tb5_file_seq(run.file, TB5_MODULES);
	return enumerate_bound(&run, tb5_fetch_records, &source,
			       tb5_seq_size(source.seq) / source.size, source.size, start_index);
}
