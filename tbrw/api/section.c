/* Opens and closes sections and streams, for writing and for reading. */
#include "tbrw/api/access.h"
#include "tbrw/bind/bind.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <assert.h>

/* ---- Steps of all sections ---- */

static TBRW_U32 start_reading(struct tb5_section *section)
{
	if (section->state == TB5_WRITING || section->reading)
		return VT_SECTION_ALREADY_IN_USE;
	if (section->state == TB5_ABSENT)
		return VT_SECTION_NOT_EXIST;
	section->reading = true;
	return VT_SUCCESS;
}

static TBRW_U32 start_writing(const struct tb5_access *access)
{
	TBRW_U32 code = tb5_file_begin_write(access->file);

	if (code != VT_SUCCESS)
		return code;
	if (access->stream && access->stream->whole.state != TB5_WRITING)
		return VT_SECTION_NOT_WRITEABLE;
	if (access->section->state != TB5_ABSENT || access->section->reading)
		return VT_SECTION_ALREADY_IN_USE;
	access->section->state = TB5_WRITING;
	return VT_SUCCESS;
}

/* Stores the buffers of a section's sequences; *size is the sequences' size. */
static TBRW_U32 flush_section(const struct tb5_access *access, unsigned id, uint64_t *size)
{
	unsigned first = access->stream ? TB5_STREAM_FIRST : TB5_GLOBAL_FIRST;
	unsigned end = access->stream ? TB5_STREAM_END : TB5_GLOBAL_END;
	struct tb5_seq *seqs = access->stream ? access->stream->seqs : access->file->seqs;
	TBRW_U32 code = VT_SUCCESS;

	*size = 0;
	for (unsigned c = first; code == VT_SUCCESS && c < end; c++) {
		if (tb5_content_spec(c)->section != id)
			continue;
		*size += tb5_seq_size(&seqs[c - first]);
		code = tb5_file_flush(access->file, &seqs[c - first], true);
	}
	return code;
}

/* Whether a section of `size` bytes may be done. */
static TBRW_U32 check_done(const struct tb5_access *access, unsigned id, uint64_t size)
{
	if (!access->stream)
		return size || id == TBRW_MODULE_SECTION || id == TBRW_PROCESS_THREAD_SECTION
			       ? VT_SUCCESS
			       : VT_NO_DATA_TO_WRITE;
	switch (id) {
	case TBRW_DATA_SECTION:
		return size % tb5_stream_seq(access->stream, TB5_DATA)->entry_size
			       ? VT_UNSUPPORTED_DATA_SIZE
			       : VT_SUCCESS;
	case TBRW_DATA_DESCRIPTION_SECTION:
		return size ? VT_SUCCESS : VT_DATA_DESC_NOT_EXIST;
	case TBRW_STREAM_INFO_SECTION:
	case TBRW_USER_DEFINED_STREAM_SECTION:
		return size ? VT_SUCCESS : VT_NO_DATA_TO_WRITE;
	default:
		return VT_SUCCESS;
	}
}

static TBRW_U32 end_section(const struct tb5_access *access, unsigned id, uint32_t number)
{
	struct tb5_section *section = access->section;
	struct tb5_file *file = access->file;
	uint64_t size;

	assert(!section->reading || section->state != TB5_WRITING);
	if (section->reading) {
		section->reading = false;
		return VT_SUCCESS;
	}
	if (section->state != TB5_WRITING)
		return section->state == TB5_ABSENT ? VT_SECTION_NOT_EXIST
						    : VT_SECTION_NOT_WRITEABLE;
	TBRW_U32 code = tb5_file_begin_write(file);
	if (code == VT_SUCCESS)
		code = flush_section(access, id, &size);
	if (code == VT_SUCCESS)
		code = check_done(access, id, size);
	if (code == VT_SUCCESS)
		code = tb5_file_mark(file, &file->store, TB5_KIND_SECTION_DONE, id, number);
	if (code == VT_SUCCESS)
		section->state = TB5_DONE;
	return code;
}

/* ---- Global sections ---- */

TBRW_U32 TBRW_reading_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_global(ptr, id, &access);

	if (code != VT_SUCCESS)
		return code;
	/* Processes and threads deduced by bind can be read though none were written. */
	if (id == TBRW_PROCESS_THREAD_SECTION && access.section->state == TB5_ABSENT) {
		code = tb5_bind_find(access.file);
		if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
			return code;
		if (access.file->bound && !access.section->reading) {
			access.section->reading = true;
			return VT_SUCCESS;
		}
	}
	return start_reading(access.section);
}

TBRW_U32 TBRW_writing_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_global(ptr, id, &access);

	return code == VT_SUCCESS ? start_writing(&access) : code;
}

TBRW_U32 TBRW_done_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_global(ptr, id, &access);

	if (code != VT_SUCCESS)
		return code;
	/* Results bound before do not know the new records. */
	bool was_writing = access.section->state == TB5_WRITING;
	code = end_section(&access, id, TB5_NO_STREAM);
	if (code == VT_SUCCESS && was_writing)
		access.file->bind_known = false;
	return code;
}

/* ---- Streams ---- */

TBRW_U32 TBRW_get_number_data_streams(TBRW_PTR ptr, TBRW_U32 *numStreams)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!numStreams)
		return VT_UNEXPECTED_NULL_PTR;
	*numStreams = file->stream_count;
	return VT_SUCCESS;
}

static TBRW_U32 find_stream(TBRW_PTR ptr, TBRW_U32 number, struct tb5_file **file,
			    struct tb5_stream **stream)
{
	TBRW_U32 code = tb5_file_get(ptr, file);

	return code == VT_SUCCESS ? tb5_file_stream(*file, number, stream) : code;
}

TBRW_U32 TBRW_reading_stream(TBRW_PTR ptr, TBRW_U32 number)
{
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = find_stream(ptr, number, &file, &stream);

	if (code != VT_SUCCESS)
		return code;
	if (stream->whole.state == TB5_WRITING || stream->whole.reading)
		return VT_STREAM_ALREADY_IN_USE;
	stream->whole.reading = true;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_writing_stream(TBRW_PTR ptr, TBRW_U32 number)
{
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code == VT_SUCCESS)
		code = tb5_file_begin_write(file);
	if (code != VT_SUCCESS)
		return code;
	if (number < file->stream_count)
		return VT_STREAM_ALREADY_IN_USE;
	if (number > file->stream_count)
		return VT_INVALID_STREAM;
	code = tb5_file_add_stream(file, &file->store, &stream);
	if (code != VT_SUCCESS)
		return code;
	code = tb5_file_mark(file, &file->store, TB5_KIND_STREAM_OPEN, 0, number);
	if (code != VT_SUCCESS)
		tb5_file_remove_streams(file, number);
	return code;
}

static TBRW_U32 check_stream_done(struct tb5_file *file, struct tb5_stream *stream)
{
	struct tb5_layout layout;

	for (unsigned s = 0; s < TB5_STREAM_SECTIONS; s++)
		if (stream->sections[s].state == TB5_WRITING || stream->sections[s].reading)
			return VT_STREAM_SECTION_NOT_CLOSED;
	if (stream->whole.reading)
		return VT_SUCCESS;
	if (stream->sections[TBRW_STREAM_INFO_SECTION].state == TB5_ABSENT)
		return VT_SECTION_NOT_EXIST;
	TBRW_U32 code = tb5_layout_read(file, stream, &layout);
	if (code != VT_SUCCESS)
		return code;
	if (layout.has_event_id &&
	    stream->sections[TBRW_EVENT_DESCRIPTION_SECTION].state == TB5_ABSENT)
		return VT_SECTION_NOT_EXIST;
	return tb5_seq_size(tb5_stream_seq(stream, TB5_DATA)) % layout.entry_size
		       ? VT_UNSUPPORTED_DATA_SIZE
		       : VT_SUCCESS;
}

TBRW_U32 TBRW_done_stream(TBRW_PTR ptr, TBRW_U32 number)
{
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = find_stream(ptr, number, &file, &stream);

	if (code != VT_SUCCESS)
		return code;
	if (!stream->whole.reading && stream->whole.state != TB5_WRITING)
		return VT_INVALID_STREAM;
	code = check_stream_done(file, stream);
	if (code != VT_SUCCESS)
		return code;
	assert(!stream->whole.reading || stream->whole.state != TB5_WRITING);
	if (stream->whole.reading) {
		stream->whole.reading = false;
		return VT_SUCCESS;
	}
	code = tb5_file_begin_write(file);
	if (code == VT_SUCCESS)
		code = tb5_file_mark(file, &file->store, TB5_KIND_STREAM_DONE, 0, number);
	if (code != VT_SUCCESS)
		return code;
	stream->whole.state = TB5_DONE;
	file->bind_known = false;
	return VT_SUCCESS;
}

/* ---- Stream sections ---- */

TBRW_U32 TBRW_reading_stream_section(TBRW_PTR ptr, TBRW_U32 number,
				     TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_in_stream(ptr, number, id, &access);

	if (code != VT_SUCCESS)
		return code;
	return access.stream->whole.reading ? start_reading(access.section)
					    : VT_SECTION_NOT_READABLE;
}

TBRW_U32 TBRW_writing_stream_section(TBRW_PTR ptr, TBRW_U32 number,
				     TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_in_stream(ptr, number, id, &access);

	return code == VT_SUCCESS ? start_writing(&access) : code;
}

TBRW_U32 TBRW_done_stream_section(TBRW_PTR ptr, TBRW_U32 number, TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_access access;
	TBRW_U32 code = tb5_access_find_in_stream(ptr, number, id, &access);

	return code == VT_SUCCESS ? end_section(&access, id, number) : code;
}
