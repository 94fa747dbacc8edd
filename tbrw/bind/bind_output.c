#include "tbrw/bind/bind_output.h"

#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <stddef.h>
#include <string.h>

/* All names, each with the extra bytes for tb5_file_reserve. */
#define NAMES_SIZE_MAX 4096u

struct bind_field {
	const wchar_t *name;
	uint32_t offset;
	uint16_t type;
	uint16_t size;
};

#define FIELD(structure, member, type)                                                           \
	{                                                                                        \
		L"" #member, offsetof(structure, member), type, sizeof(((structure *)0)->member) \
	}

static const struct bind_field data_fields[] = {
	FIELD(DATA_BIND_STRUCT, module_index, ST_MODULE_IDX),
	FIELD(DATA_BIND_STRUCT, pid_index, ST_PROCESS_IDX),
	FIELD(DATA_BIND_STRUCT, tid_index, ST_THREAD_IDX),
};

static const struct bind_field module_fields[] = {
	FIELD(MODULE_BIND_STRUCT, pid_index, ST_PROCESS_IDX),
};

static const struct bind_field pid_fields[] = {
	FIELD(TBRW_PID, pid_size, ST_NONE),       FIELD(TBRW_PID, pid_reserved, ST_NONE),
	FIELD(TBRW_PID, pid_id, ST_PID),          FIELD(TBRW_PID, pid_flags, ST_NONE),
	FIELD(TBRW_PID, pid_event_when, ST_NONE), FIELD(TBRW_PID, reserved1, ST_NONE),
	FIELD(TBRW_PID, reserved2, ST_NONE),      FIELD(TBRW_PID, pid_path, ST_NONE),
	FIELD(TBRW_PID, pid_name, ST_NONE),
};

static const struct bind_field tid_fields[] = {
	FIELD(struct tb5_bind_tid, pid_index, ST_PROCESS_IDX),
	FIELD(struct tb5_bind_tid, tid.tid_size, ST_NONE),
	FIELD(struct tb5_bind_tid, tid.tid_associated_pid, ST_PID),
	FIELD(struct tb5_bind_tid, tid.tid_id, ST_TID),
	FIELD(struct tb5_bind_tid, tid.tid_flags, ST_NONE),
	FIELD(struct tb5_bind_tid, tid.tid_event_when, ST_NONE),
	FIELD(struct tb5_bind_tid, tid.reserved1, ST_NONE),
	FIELD(struct tb5_bind_tid, tid.reserved2, ST_NONE),
	FIELD(struct tb5_bind_tid, tid.tid_name, ST_NONE),
};

struct bind_stream {
	TBRW_STREAM_TYPE type;
	const wchar_t *comment;
	const struct bind_field *fields;
	size_t field_count;
};

#define STREAM(type, comment, fields)                                     \
	{                                                                 \
		type, comment, fields, sizeof(fields) / sizeof(*(fields)) \
	}

static const struct bind_stream bind_streams[] = {
	STREAM(TBRW_BIND_DATA_INFORMATION_STREAM, L"bind: samples", data_fields),
	STREAM(TBRW_BIND_MODULE_INFORMATION_STREAM, L"bind: modules", module_fields),
	STREAM(TBRW_BIND_PID_INFORMATION_STREAM, L"bind: deduced processes", pid_fields),
	STREAM(TBRW_BIND_TID_INFORMATION_STREAM, L"bind: threads", tid_fields),
};
enum { STREAMS = sizeof(bind_streams) / sizeof(*bind_streams) };
_Static_assert(sizeof(struct tb5_bind_set) == STREAMS * sizeof(struct tb5_stream *), "one each");

/* A name for the new streams; a read-only file cannot take new strings. */
static TBRW_U32 output_name(struct tb5_bind_output *output, const wchar_t *name,
			    TBRW_STRING_OR_ID *id)
{
	/* tb5_file_intern only reads the string. */
	TBRW_STRING_OR_ID given = {{.soi_ptr = (TBRW_CHAR *)(uintptr_t)name}};

	id->soi_uniqueid = 0;
	return output->file->writable ? tb5_file_intern(output->file, given, id) : VT_SUCCESS;
}

static TBRW_U32 output_mark(struct tb5_bind_output *output, enum tb5_kind kind, unsigned content,
			    uint32_t stream)
{
	/* Only this handle reads a temporary file: no marks needed. */
	if (output->store != &output->file->store)
		return VT_SUCCESS;
	return tb5_file_mark(output->file, output->store, kind, content, stream);
}

static TBRW_U32 output_add_stream(struct tb5_bind_output *output, const struct bind_stream *kind,
				  struct tb5_stream **stream)
{
	struct tb5_file *file = output->file;
	TBRW_STREAM_INFO info;
	TBRW_U32 code = tb5_file_add_stream(file, output->store, stream);

	if (code == VT_SUCCESS)
		code = output_mark(output, TB5_KIND_STREAM_OPEN, 0, file->stream_count - 1);
	if (code != VT_SUCCESS)
		return code;
	memset(&info, 0, sizeof(info));
	info.stream_info_size = sizeof(info);
	info.stream_type = kind->type;
	code = output_name(output, kind->comment, &info.comment);
	if (code == VT_SUCCESS)
		code = tb5_file_append(file, tb5_stream_seq(*stream, TB5_STREAM_INFO), &info,
				       sizeof(info));
	for (size_t i = 0; code == VT_SUCCESS && i < kind->field_count; i++) {
		const struct bind_field *f = &kind->fields[i];
		TBRW_SAMPREC_DESC_ENTRY d;

		memset(&d, 0, sizeof(d));
		d.desc_size = sizeof(d);
		d.desc_offset = f->offset;
		d.desc_type = f->type;
		d.desc_data_size = f->size;
		code = output_name(output, f->name, &d.desc_name);
		if (code == VT_SUCCESS)
			code = tb5_descriptor_append(file, *stream, &d);
	}
	return code;
}

/* Stores the names beforehand: strings stay in the file if binding fails, everything behind them is
 * cut off. */
static TBRW_U32 output_store_names(struct tb5_bind_output *output)
{
	struct tb5_file *file = output->file;
	TBRW_STRING_OR_ID id;
	TBRW_U32 code = VT_SUCCESS;

	if (!file->writable)
		return VT_SUCCESS;
	/* A failed append of an interned string would be the end of this file. */
	code = tb5_file_reserve(file, NAMES_SIZE_MAX);
	if (code != VT_SUCCESS)
		file->failed = VT_SUCCESS;
	for (size_t i = 0; code == VT_SUCCESS && i < STREAMS; i++) {
		code = output_name(output, bind_streams[i].comment, &id);
		for (size_t f = 0; code == VT_SUCCESS && f < bind_streams[i].field_count; f++)
			code = output_name(output, bind_streams[i].fields[f].name, &id);
	}
	if (code != VT_SUCCESS)
		return code;
	code = tb5_file_flush_all(file);
	/* Unstored bytes are still in the buffers: writing may continue. */
	if (code != VT_SUCCESS)
		file->failed = VT_SUCCESS;
	return code;
}

TBRW_U32 tb5_bind_output_begin(struct tb5_bind_output *output, struct tb5_file *file)
{
	struct tb5_stream **streams[] = {&output->streams.data, &output->streams.module,
					 &output->streams.pid, &output->streams.tid};
	TBRW_U32 code = VT_SUCCESS;

	if (file->failed)
		return file->failed;
	output->file = file;
	if (!file->writable && file->temporary.fd < 0)
		code = tb5_store_open_temporary(&file->temporary);
	if (code == VT_SUCCESS)
		code = output_store_names(output);
	if (code != VT_SUCCESS)
		return code;
	output->store = file->writable ? &file->store : &file->temporary;
	output->first_stream = file->stream_count;
	output->store_end = output->store->end;
	for (size_t i = 0; code == VT_SUCCESS && i < STREAMS; i++)
		code = output_add_stream(output, &bind_streams[i], streams[i]);
	return code == VT_SUCCESS ? code : tb5_bind_output_end(output, code);
}

static TBRW_U32 output_finish_stream(struct tb5_bind_output *output, uint32_t number)
{
	static const TBRW_STREAM_SECTION_IDENTIFIER written[] = {TBRW_STREAM_INFO_SECTION,
								 TBRW_DATA_DESCRIPTION_SECTION,
								 TBRW_DATA_SECTION};
	struct tb5_stream *stream = output->file->streams[number];
	TBRW_U32 code = VT_SUCCESS;

	for (unsigned c = TB5_STREAM_FIRST; code == VT_SUCCESS && c < TB5_STREAM_END; c++)
		code = tb5_file_flush(output->file, tb5_stream_seq(stream, c), true);
	for (size_t i = 0; code == VT_SUCCESS && i < 3; i++)
		code = output_mark(output, TB5_KIND_SECTION_DONE, written[i], number);
	if (code == VT_SUCCESS)
		code = output_mark(output, TB5_KIND_STREAM_DONE, 0, number);
	if (code != VT_SUCCESS)
		return code;
	for (size_t i = 0; i < 3; i++)
		stream->sections[written[i]].state = TB5_DONE;
	stream->whole.state = TB5_DONE;
	return VT_SUCCESS;
}

TBRW_U32 tb5_bind_output_end(struct tb5_bind_output *output, TBRW_U32 code)
{
	struct tb5_file *file = output->file;

	for (uint32_t n = output->first_stream; code == VT_SUCCESS && n < file->stream_count; n++)
		code = output_finish_stream(output, n);
	file->bind_known = false;
	if (code == VT_SUCCESS)
		return VT_SUCCESS;
	tb5_file_remove_streams(file, output->first_stream);
	tb5_store_truncate(output->store, output->store_end);
	tb5_cache_drop(&file->cache, output->store, output->store_end);
	/* The file was rolled back: writing may continue. */
	if (output->store->end == output->store_end)
		file->failed = VT_SUCCESS;
	return code;
}
