/* Streams appended to a complete result: the pair of finalization, first the texts, then the
 * symbols with references to them; and the external data of an import. */
#include "profile/write/writer_private.h"
#include <stdlib.h>

static TBRW_U32 open_streams(struct profile_writer *writer, enum profile_stream first,
			     enum profile_stream end)
{
	TBRW_U32 count;
	TBRW_U32 code = TBRW_verify(writer->file);

	if (code == VT_SUCCESS)
		code = TBRW_get_number_data_streams(writer->file, &count);
	if (code != VT_SUCCESS)
		return code;
	if (count > UINT32_MAX - PROFILE_STREAM_COUNT)
		return VT_BUFFER_OVERFLOW;
	writer->first_stream = count - first;
	return profile_writer_open_streams(writer, first, end);
}

static TBRW_U32 begin(const char *path, enum profile_stream first, enum profile_stream end,
		      struct profile_writer **writer)
{
	if (!path || !writer)
		return VT_UNEXPECTED_NULL_PTR;
	struct profile_writer *made = calloc(1, sizeof(*made));
	if (!made)
		return VT_NO_MEMORY;
	TBRW_U32 code = tb5_utf8_open(&made->file, path, TBRW_FILE_READ | TBRW_FILE_WRITE);
	if (code != VT_SUCCESS) {
		free(made);
		return code;
	}
	/* Frames are the file's own: readers check references to them. */
	made->counts[PROFILE_STREAM_FRAMES] = PROFILE_NONE;
	code = open_streams(made, first, end);
	if (code != VT_SUCCESS) {
		profile_writer_abandon(made);
		return code;
	}
	*writer = made;
	return VT_SUCCESS;
}

static TBRW_U32 finish(struct profile_writer *writer, enum profile_stream first,
		       enum profile_stream end)
{
	TBRW_U32 code = writer->error;

	if (code == VT_SUCCESS)
		code = profile_writer_close_streams(writer, first, end);
	return profile_writer_close(writer, code);
}

TBRW_U32 profile_symbol_writer_begin(const char *path, struct profile_writer **writer)
{
	return begin(path, PROFILE_STREAM_COLLECTED, PROFILE_STREAM_EXTERNAL, writer);
}

TBRW_U32 profile_symbol_writer_add(struct profile_writer *writer,
				   const struct profile_symbol *symbol,
				   const struct profile_symbol_text *text)
{
	const char *const texts[] = {text->name, text->full, text->file};

	return profile_writer_add(writer, PROFILE_STREAM_SYMBOLS, symbol, texts, NULL);
}

TBRW_U32 profile_symbol_writer_finish(struct profile_writer *writer)
{
	return finish(writer, PROFILE_STREAM_COLLECTED, PROFILE_STREAM_EXTERNAL);
}

TBRW_U32 profile_external_writer_begin(const char *path, struct profile_writer **writer)
{
	return begin(path, PROFILE_STREAM_EXTERNAL, PROFILE_STREAM_COUNT, writer);
}

TBRW_U32 profile_external_writer_finish(struct profile_writer *writer)
{
	return finish(writer, PROFILE_STREAM_EXTERNAL, PROFILE_STREAM_COUNT);
}
