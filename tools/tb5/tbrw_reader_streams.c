/* The sections of a stream into items, and the sampling data into its own file. */
#include "tools/tb5/tbrw_reader.h"
#include <stdlib.h>
#include <string.h>

#define SAMPLING_STREAM 0

static TBRW_U32 read_info(struct reader *r)
{
	TBRW_STREAM_INFO info;
	TBRW_U32 code = TBRW_get_stream_info(r->file, r->stream, sizeof(info), &info, NULL);

	return code == VT_SUCCESS ? reader_put_record(r, DAT_STREAM_INFO, &info, NULL, 0) : code;
}

static TBRW_U32 see_event(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	TBRW_U32 code = reader_put_record(user, DAT_EVENT, event, event->event_detail_array,
					  size - sizeof(*event));

	(void)count;
	return code == VT_SUCCESS ? TRUE : code;
}

static TBRW_U32 read_events(struct reader *r)
{
	return TBRW_enumerate_events(r->file, r->stream, see_event, r, 0);
}

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *descriptors, TBRW_U32 size, TBRW_U32 count,
				void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = reader_put_record(user, DAT_DESCRIPTOR, &descriptors[i], NULL, 0);

		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static TBRW_U32 read_descriptors(struct reader *r)
{
	return TBRW_enumerate_data_descriptor_entries(r->file, r->stream, see_descriptors, r);
}

static TBRW_U32 see_sampling_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct reader *r = user;

	(void)count;
	return fwrite(data, 1, size, r->data) == size ? TRUE : VT_WRITE_ERROR;
}

static TBRW_U32 see_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct reader *r = user;

	(void)count;
	reader_put(r, DAT_DATA, data, size);
	return ferror(r->out) ? VT_WRITE_ERROR : TRUE;
}

static TBRW_U32 read_data(struct reader *r)
{
	if (r->stream_out != SAMPLING_STREAM)
		return TBRW_enumerate_data(r->file, r->stream, see_data, r, 0);
	reader_put(r, DAT_DATA_FILE, r->data_name, strlen(r->data_name));
	return TBRW_enumerate_data(r->file, r->stream, see_sampling_data, r, 0);
}

static TBRW_U32 read_user_stream(struct reader *r)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = TBRW_get_user_defined_stream(r->file, r->stream, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	void *data = malloc(size);
	if (!data)
		return VT_NO_MEMORY;
	code = TBRW_get_user_defined_stream(r->file, r->stream, size, data, NULL);
	if (code == VT_SUCCESS)
		reader_put(r, DAT_USER_STREAM, data, size);
	free(data);
	return code;
}

struct stream_section {
	TBRW_STREAM_SECTION_IDENTIFIER id;
	TBRW_U32 (*read)(struct reader *r);
};

/* The writer needs the descriptors before the data. */
static const struct stream_section stream_sections[] = {
	{TBRW_STREAM_INFO_SECTION, read_info},
	{TBRW_EVENT_DESCRIPTION_SECTION, read_events},
	{TBRW_DATA_DESCRIPTION_SECTION, read_descriptors},
	{TBRW_DATA_SECTION, read_data},
	{TBRW_USER_DEFINED_STREAM_SECTION, read_user_stream},
};

TBRW_U32 reader_stream_sections(struct reader *r)
{
	for (size_t i = 0; i < sizeof(stream_sections) / sizeof(*stream_sections); i++) {
		const struct stream_section *section = &stream_sections[i];
		TBRW_U32 code = TBRW_reading_stream_section(r->file, r->stream, section->id);

		if (code == VT_SECTION_NOT_EXIST)
			continue;
		reader_put_section(r, DAT_SECTION, section->id);
		if (code == VT_SUCCESS)
			code = section->read(r);
		if (code == VT_SUCCESS)
			code = TBRW_done_stream_section(r->file, r->stream, section->id);
		if (code != VT_SUCCESS)
			return code;
		reader_put_section(r, DAT_SECTION_DONE, section->id);
	}
	return VT_SUCCESS;
}
