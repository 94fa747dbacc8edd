/* Reads records and strings of a file through TBRW, whatever state the file is in. */
#include "containers/array.h"
#include "profile/read/reader_private.h"
#include "tbrw/utf8.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

TBRW_U32 profile_reader_tolerate(const struct profile_reader *reader, TBRW_U32 code)
{
	/* An empty section, and one that does not exist, have no records. */
	if (code == VT_SECTION_NOT_EXIST || code == VT_INVALID_READ_START ||
	    code == VT_ENTRY_NOT_FOUND)
		return VT_SUCCESS;
	if (code == VT_NO_MEMORY || code == VT_BUFFER_OVERFLOW)
		return code;
	return reader->is_complete ? code : VT_SUCCESS;
}

TBRW_U32 profile_reader_string(struct profile_reader *reader, TBRW_STRING_OR_ID id,
			       const char **string)
{
	*string = "";
	if (id.soi_uniqueid == 0)
		return VT_SUCCESS;
	const char *known = profile_strings_get(&reader->names, id.soi_uniqueid);
	if (!known) {
		char *text;
		size_t size;
		TBRW_U32 code = tb5_utf8_of_id(reader->file, id, &text, &size);
		/* An id that leads nowhere: a name less, no reason to refuse the rest. */
		if (code != VT_SUCCESS)
			return code == VT_NO_MEMORY ? code : VT_SUCCESS;
		known = profile_strings_put(&reader->names, id.soi_uniqueid, text, strlen(text));
		free(text);
		if (!known)
			return VT_NO_MEMORY;
	}
	*string = known;
	return VT_SUCCESS;
}

struct stream_load {
	char *records;
	uint32_t record_size;
	uint32_t entry_size;
	uint32_t known_size; /* of an entry, of a record: fields that came later are 0 */
	uint32_t count;
	size_t capacity;
};

static TBRW_U32 load_run(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct stream_load *load = user;

	if (size / load->entry_size < count)
		return VT_INVALID_SAMPLE_FILE;
	if (count > UINT32_MAX / 2 - load->count)
		return VT_BUFFER_OVERFLOW;
	if (!array_reserve(&load->records, &load->capacity, (size_t)load->count + count,
			   load->record_size))
		return VT_NO_MEMORY;
	assert(load->known_size <= load->record_size && load->known_size <= load->entry_size);
	char *to = load->records + (size_t)load->count * load->record_size;
	const char *from = data;
	if (load->entry_size == load->record_size) {
		memcpy(to, from, (size_t)count * load->record_size);
	} else {
		memset(to, 0, (size_t)count * load->record_size);
		for (TBRW_U32 i = 0; i < count; i++)
			memcpy(to + (size_t)i * load->record_size,
			       from + (size_t)i * load->entry_size, load->known_size);
	}
	load->count += count;
	return TRUE;
}

static TBRW_U32 load_data(TBRW_PTR file, TBRW_U32 stream, struct stream_load *load)
{
	TBRW_U32 code = TBRW_reading_stream_section(file, stream, TBRW_DATA_SECTION);

	if (code != VT_SUCCESS)
		return code;
	code = TBRW_enumerate_data(file, stream, load_run, load, 0);
	TBRW_done_stream_section(file, stream, TBRW_DATA_SECTION);
	return code;
}

static TBRW_U32 load_stream(TBRW_PTR file, TBRW_U32 stream, const struct profile_stream_spec *spec,
			    struct stream_load *load)
{
	TBRW_U32 code = TBRW_reading_stream(file, stream);

	if (code != VT_SUCCESS)
		return code;
	code = profile_stream_check(file, stream, spec, &load->known_size, &load->entry_size);
	if (code == VT_SUCCESS)
		code = load_data(file, stream, load);
	TBRW_done_stream(file, stream);
	return code;
}

/* A pass over records that are not kept. */
struct pass {
	uint32_t known_size;
	uint32_t entry_size;
	uint32_t record_size;
	profile_record_callback *callback;
	void *user;
};

static TBRW_U32 pass_run(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	const struct pass *pass = user;

	if (size / pass->entry_size < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		union profile_record record;
		memcpy(record.bytes, (const char *)data + (size_t)i * pass->entry_size,
		       pass->known_size);
		memset(record.bytes + pass->known_size, 0, pass->record_size - pass->known_size);
		if (!pass->callback(&record, pass->user))
			return FALSE;
	}
	return TRUE;
}

TBRW_U32 profile_reader_each_record_from(const struct profile_reader *reader,
					 enum profile_stream stream, uint32_t number,
					 uint64_t first, profile_record_callback *callback,
					 void *user)
{
	struct pass pass = {.record_size = profile_stream_spec(stream)->record_size,
			    .callback = callback,
			    .user = user};
	TBRW_U32 code = TBRW_reading_stream(reader->file, number);

	if (code != VT_SUCCESS)
		return code;
	code = profile_stream_check(reader->file, number, profile_stream_spec(stream),
				    &pass.known_size, &pass.entry_size);
	if (code == VT_SUCCESS)
		code = TBRW_reading_stream_section(reader->file, number, TBRW_DATA_SECTION);
	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_data(reader->file, number, pass_run, &pass, first);
		TBRW_done_stream_section(reader->file, number, TBRW_DATA_SECTION);
	}
	TBRW_done_stream(reader->file, number);
	return profile_reader_tolerate(reader, code);
}

TBRW_U32 profile_reader_each_record(const struct profile_reader *reader, enum profile_stream stream,
				    uint32_t number, profile_record_callback *callback, void *user)
{
	return profile_reader_each_record_from(reader, stream, number, 0, callback, user);
}

TBRW_U32 profile_reader_load(struct profile_reader *reader, enum profile_stream stream)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	struct stream_load load = {.record_size = spec->record_size};

	if (reader->streams[stream] == PROFILE_NONE)
		return VT_SUCCESS;
	TBRW_U32 code = load_stream(reader->file, reader->streams[stream], spec, &load);
	code = profile_reader_tolerate(reader, code);
	if (code != VT_SUCCESS) {
		free(load.records);
		return code;
	}
	reader->records[stream] = (struct profile_records){load.records, load.count};
	return VT_SUCCESS;
}
