#include "tbrw/api/section.h"

#include "tbrw/bind/bind.h"
#include "tbrw/file/layout.h"
#include "tbrw/file/record.h"

/* ---- Global sections ---- */

static TBRW_U32 global_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id, struct tb5_file **file,
			       struct tb5_section **section)
{
	TBRW_U32 code = tb5_file_get(ptr, file);

	if (code != VT_SUCCESS)
		return code;
	if ((unsigned)id >= TB5_GLOBAL_SECTIONS)
		return VT_UNKNOWN_SECTION_NUMBER;
	*section = &(*file)->sections[id];
	return VT_SUCCESS;
}

TBRW_U32 tb5_global_begin_write(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id, struct tb5_file **file)
{
	struct tb5_section *section;
	TBRW_U32 code = global_section(ptr, id, file, &section);

	if (code != VT_SUCCESS)
		return code;
	if (section->state != TB5_WRITING)
		return VT_SECTION_NOT_WRITEABLE;
	return tb5_file_begin_write(*file);
}

TBRW_U32 tb5_global_begin_read(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id, struct tb5_file **file)
{
	struct tb5_section *section;
	TBRW_U32 code = global_section(ptr, id, file, &section);

	if (code != VT_SUCCESS)
		return code;
	return section->reading ? VT_SUCCESS : VT_SECTION_NOT_READABLE;
}

static TBRW_U32 section_start_reading(struct tb5_section *section)
{
	if (section->state == TB5_WRITING || section->reading)
		return VT_SECTION_ALREADY_IN_USE;
	if (section->state == TB5_ABSENT)
		return VT_SECTION_NOT_EXIST;
	section->reading = true;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_reading_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_file *file;
	TBRW_U32 code = global_section(ptr, id, &file, &section);

	if (code != VT_SUCCESS)
		return code;
	/* Processes and threads that bind deduced can be read though none were written. */
	if (id == TBRW_PROCESS_THREAD_SECTION && section->state == TB5_ABSENT) {
		code = tb5_bind_find(file);
		if (code != VT_SUCCESS && code != VT_UNEXPECTED_BIND_MISMATCH)
			return code;
		if (file->bound && !section->reading) {
			section->reading = true;
			return VT_SUCCESS;
		}
	}
	return section_start_reading(section);
}

TBRW_U32 TBRW_writing_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_file *file;
	TBRW_U32 code = global_section(ptr, id, &file, &section);

	if (code == VT_SUCCESS)
		code = tb5_file_begin_write(file);
	if (code != VT_SUCCESS)
		return code;
	if (section->state != TB5_ABSENT || section->reading)
		return VT_SECTION_ALREADY_IN_USE;
	section->state = TB5_WRITING;
	return VT_SUCCESS;
}

/* Stores what the sequences of a section have buffered; *size is what they hold. */
static TBRW_U32 flush_section(struct tb5_file *file, struct tb5_seq *seqs, unsigned first,
			      unsigned end, unsigned id, uint64_t *size)
{
	TBRW_U32 code = VT_SUCCESS;

	*size = 0;
	for (unsigned c = first; code == VT_SUCCESS && c < end; c++) {
		if (tb5_content_section(c) != id)
			continue;
		*size += tb5_seq_size(&seqs[c - first]);
		code = tb5_file_flush(file, &seqs[c - first], true);
	}
	return code;
}

static bool section_may_be_empty(TBRW_SECTION_IDENTIFIER id)
{
	return id == TBRW_MODULE_SECTION || id == TBRW_PROCESS_THREAD_SECTION;
}

TBRW_U32 TBRW_done_section(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_file *file;
	uint64_t size;
	TBRW_U32 code = global_section(ptr, id, &file, &section);

	if (code != VT_SUCCESS)
		return code;
	if (section->reading) {
		section->reading = false;
		return VT_SUCCESS;
	}
	if (section->state != TB5_WRITING)
		return section->state == TB5_ABSENT ? VT_SECTION_NOT_EXIST
						    : VT_SECTION_NOT_WRITEABLE;
	code = tb5_file_begin_write(file);
	if (code == VT_SUCCESS)
		code = flush_section(file, file->seqs, TB5_GLOBAL_FIRST, TB5_GLOBAL_END, id, &size);
	if (code == VT_SUCCESS && !size && !section_may_be_empty(id))
		code = VT_NO_DATA_TO_WRITE;
	if (code == VT_SUCCESS)
		code = tb5_file_mark(file, &file->store, TB5_KIND_SECTION_DONE, id, TB5_NO_STREAM);
	if (code != VT_SUCCESS)
		return code;
	section->state = TB5_DONE;
	/* Results bound before do not know these records. */
	file->bind_known = false;
	return VT_SUCCESS;
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

static TBRW_U32 file_and_stream(TBRW_PTR ptr, TBRW_U32 number, struct tb5_file **file,
				struct tb5_stream **stream)
{
	TBRW_U32 code = tb5_file_get(ptr, file);

	return code == VT_SUCCESS ? tb5_file_stream(*file, number, stream) : code;
}

TBRW_U32 TBRW_reading_stream(TBRW_PTR ptr, TBRW_U32 number)
{
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = file_and_stream(ptr, number, &file, &stream);

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

static TBRW_U32 stream_check_done(struct tb5_file *file, struct tb5_stream *stream)
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
	TBRW_U32 code = file_and_stream(ptr, number, &file, &stream);

	if (code != VT_SUCCESS)
		return code;
	if (!stream->whole.reading && stream->whole.state != TB5_WRITING)
		return VT_INVALID_STREAM;
	code = stream_check_done(file, stream);
	if (code != VT_SUCCESS)
		return code;
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

static TBRW_U32 stream_section(TBRW_PTR ptr, TBRW_U32 number, TBRW_STREAM_SECTION_IDENTIFIER id,
			       struct tb5_file **file, struct tb5_stream **stream,
			       struct tb5_section **section)
{
	TBRW_U32 code = file_and_stream(ptr, number, file, stream);

	if (code != VT_SUCCESS)
		return code;
	if ((unsigned)id >= TB5_STREAM_SECTIONS)
		return VT_UNKNOWN_SECTION_NUMBER;
	*section = &(*stream)->sections[id];
	return VT_SUCCESS;
}

TBRW_U32 tb5_stream_begin_write(TBRW_PTR ptr, TBRW_U32 number, TBRW_STREAM_SECTION_IDENTIFIER id,
				struct tb5_file **file, struct tb5_stream **stream)
{
	struct tb5_section *section;
	TBRW_U32 code = stream_section(ptr, number, id, file, stream, &section);

	if (code != VT_SUCCESS)
		return code;
	if (section->state != TB5_WRITING)
		return VT_SECTION_NOT_WRITEABLE;
	return tb5_file_begin_write(*file);
}

TBRW_U32 tb5_stream_begin_read(TBRW_PTR ptr, TBRW_U32 number, TBRW_STREAM_SECTION_IDENTIFIER id,
			       struct tb5_file **file, struct tb5_stream **stream)
{
	struct tb5_section *section;
	TBRW_U32 code = stream_section(ptr, number, id, file, stream, &section);

	if (code != VT_SUCCESS)
		return code;
	return section->reading ? VT_SUCCESS : VT_SECTION_NOT_READABLE;
}

TBRW_U32 TBRW_reading_stream_section(TBRW_PTR ptr, TBRW_U32 number,
				     TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = stream_section(ptr, number, id, &file, &stream, &section);

	if (code != VT_SUCCESS)
		return code;
	if (!stream->whole.reading)
		return VT_SECTION_NOT_READABLE;
	return section_start_reading(section);
}

TBRW_U32 TBRW_writing_stream_section(TBRW_PTR ptr, TBRW_U32 number,
				     TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_stream *stream;
	struct tb5_file *file;
	TBRW_U32 code = stream_section(ptr, number, id, &file, &stream, &section);

	if (code == VT_SUCCESS)
		code = tb5_file_begin_write(file);
	if (code != VT_SUCCESS)
		return code;
	if (stream->whole.state != TB5_WRITING)
		return VT_SECTION_NOT_WRITEABLE;
	if (section->state != TB5_ABSENT)
		return VT_SECTION_ALREADY_IN_USE;
	section->state = TB5_WRITING;
	return VT_SUCCESS;
}

static TBRW_U32 stream_section_check_done(struct tb5_stream *stream,
					  TBRW_STREAM_SECTION_IDENTIFIER id, uint64_t size)
{
	const struct tb5_seq *data = tb5_stream_seq(stream, TB5_DATA);

	switch (id) {
	case TBRW_DATA_SECTION:
		return tb5_seq_size(data) % data->entry_size ? VT_UNSUPPORTED_DATA_SIZE
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

TBRW_U32 TBRW_done_stream_section(TBRW_PTR ptr, TBRW_U32 number, TBRW_STREAM_SECTION_IDENTIFIER id)
{
	struct tb5_section *section;
	struct tb5_stream *stream;
	struct tb5_file *file;
	uint64_t size;
	TBRW_U32 code = stream_section(ptr, number, id, &file, &stream, &section);

	if (code != VT_SUCCESS)
		return code;
	if (section->reading) {
		section->reading = false;
		return VT_SUCCESS;
	}
	if (section->state != TB5_WRITING)
		return section->state == TB5_ABSENT ? VT_SECTION_NOT_EXIST
						    : VT_SECTION_NOT_WRITEABLE;
	code = tb5_file_begin_write(file);
	if (code == VT_SUCCESS)
		code = flush_section(file, stream->seqs, TB5_STREAM_FIRST, TB5_STREAM_END, id,
				     &size);
	if (code == VT_SUCCESS)
		code = stream_section_check_done(stream, id, size);
	if (code == VT_SUCCESS)
		code = tb5_file_mark(file, &file->store, TB5_KIND_SECTION_DONE, id, number);
	if (code == VT_SUCCESS)
		section->state = TB5_DONE;
	return code;
}
