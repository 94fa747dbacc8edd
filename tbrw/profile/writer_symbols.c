/* The pair of streams that finalization appends: texts first, the symbols that refer to them next.
 */
#include "tbrw/profile/streams.h"
#include "tbrw/profile/texttable.h"
#include "tbrw/profile/wide.h"
#include "tbrw/profile/writer.h"
#include <stdlib.h>

struct profile_symbol_writer {
	TBRW_PTR file;
	TBRW_U32 error; /* first failure */
	TBRW_U32 text_stream;
	TBRW_U32 symbol_stream;
	struct profile_text_table texts;
};

static TBRW_U32 keep(struct profile_symbol_writer *writer, TBRW_U32 code)
{
	if (writer->error == VT_SUCCESS)
		writer->error = code;
	return code;
}

static TBRW_U32 add_text(struct profile_symbol_writer *writer, const char *s,
			 struct profile_text *text)
{
	switch (profile_text_table_add(&writer->texts, s, text)) {
	case PROFILE_TEXT_KNOWN:
		return VT_SUCCESS;
	case PROFILE_TEXT_NEW:
		return keep(writer, TBRW_add_data(writer->file, writer->text_stream, text->length,
						  writer->texts.bytes + text->offset));
	case PROFILE_TEXT_NO_MEMORY:
		break;
	}
	return keep(writer, VT_NO_MEMORY);
}

static TBRW_U32 open_streams(struct profile_symbol_writer *writer)
{
	TBRW_U32 count;
	TBRW_U32 code = TBRW_verify(writer->file);

	if (code == VT_SUCCESS)
		code = TBRW_get_number_data_streams(writer->file, &count);
	if (code != VT_SUCCESS)
		return code;
	if (count > UINT32_MAX - 2)
		return VT_BUFFER_OVERFLOW;
	writer->text_stream = count;
	writer->symbol_stream = count + 1;
	code = profile_stream_create(writer->file, writer->text_stream, PROFILE_STREAM_ID_SYMTEXT);
	if (code == VT_SUCCESS)
		code = profile_stream_create(writer->file, writer->symbol_stream,
					     PROFILE_STREAM_ID_SYMBOLS);
	return code;
}

TBRW_U32 profile_symbol_writer_begin(const char *path, struct profile_symbol_writer **writer)
{
	if (!path || !writer)
		return VT_UNEXPECTED_NULL_PTR;
	struct profile_symbol_writer *made = calloc(1, sizeof(*made));
	if (!made)
		return VT_NO_MEMORY;
	TBRW_U32 code = profile_file_open(&made->file, path, TBRW_FILE_READ | TBRW_FILE_WRITE);
	if (code != VT_SUCCESS) {
		free(made);
		return code;
	}
	code = open_streams(made);
	if (code != VT_SUCCESS) {
		profile_symbol_writer_abandon(made);
		return code;
	}
	*writer = made;
	return VT_SUCCESS;
}

TBRW_U32 profile_symbol_writer_add(struct profile_symbol_writer *writer,
				   const struct profile_symbol *symbol,
				   const struct profile_symbol_text *text)
{
	struct profile_symbol record = *symbol;

	if (writer->error != VT_SUCCESS)
		return writer->error;
	TBRW_U32 code = add_text(writer, text->name, &record.name);
	if (code == VT_SUCCESS)
		code = add_text(writer, text->full, &record.full);
	if (code == VT_SUCCESS)
		code = add_text(writer, text->file, &record.file);
	if (code == VT_SUCCESS)
		code = keep(writer, TBRW_add_data(writer->file, writer->symbol_stream,
						  sizeof(record), &record));
	return code;
}

TBRW_U32 profile_symbol_writer_finish(struct profile_symbol_writer *writer)
{
	TBRW_U32 code = writer->error;

	if (code == VT_SUCCESS)
		code = profile_stream_done(writer->file, writer->text_stream);
	if (code == VT_SUCCESS)
		code = profile_stream_done(writer->file, writer->symbol_stream);
	if (code == VT_SUCCESS)
		code = TBRW_close(writer->file);
	if (code != VT_SUCCESS) {
		profile_symbol_writer_abandon(writer);
		return code;
	}
	profile_text_table_finish(&writer->texts);
	free(writer);
	return VT_SUCCESS;
}

void profile_symbol_writer_abandon(struct profile_symbol_writer *writer)
{
	if (!writer)
		return;
	TBRW_abort_cleanup_and_close(writer->file);
	profile_text_table_finish(&writer->texts);
	free(writer);
}
