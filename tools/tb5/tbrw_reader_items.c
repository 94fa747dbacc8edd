/* Writes sections as items of the first data file, and the sampling data to a file of its own. */
#include "tools/tb5/tb5_text.h"
#include "tools/tb5/tbrw_reader.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLING_STREAM 0

_Static_assert(offsetof(struct reader, walk) == 0, "a walk stands for its reader");

static struct reader *reader_of(struct tb5_walk *walk)
{
	return (struct reader *)walk;
}

void reader_put(struct reader *r, enum dat_kind kind, const void *bytes, size_t size)
{
	struct dat_item item = {.kind = kind, .stream = r->stream_out, .size = size};
	fwrite(&item, sizeof(item), 1, r->out);
	if (size)
		fwrite(bytes, 1, size, r->out);
}

static void put_section(struct tb5_walk *walk, enum dat_kind kind, uint32_t section)
{
	struct reader *r = reader_of(walk);
	struct dat_item item = {.kind = kind, .stream = r->stream_out, .section = section};
	fwrite(&item, sizeof(item), 1, r->out);
}

static void put_text(struct reader *r, const char *text)
{
	uint32_t length = text ? (uint32_t)strlen(text) : DAT_NO_STRING;
	fwrite(&length, sizeof(length), 1, r->out);
	if (text)
		fwrite(text, 1, length, r->out);
}

static TBRW_U32 see_record(struct tb5_walk *walk, enum dat_kind kind, const void *record)
{
	struct reader *r = reader_of(walk);
	struct dat_array array = dat_array_of(kind, record);
	size_t size = dat_record_of(kind)->size;
	size_t tail_size = array.count * dat_record_of(array.kind)->size;
	size_t places[DAT_STRINGS_MAX];
	char *texts[DAT_STRINGS_MAX] = {NULL};
	size_t count = dat_texts_of(kind, places);
	struct dat_item item = {.kind = kind, .stream = r->stream_out};
	bool is_whole = true;
	item.size = size + tail_size + count * sizeof(uint32_t);
	for (size_t i = 0; i < count; i++) {
		TBRW_STRING_OR_ID id;
		memcpy(&id, (const unsigned char *)record + places[i], sizeof(id));
		if (!id.soi_uniqueid)
			continue;
		texts[i] = tb5_text_of(walk->file, id);
		is_whole &= texts[i] != NULL;
		item.size += texts[i] ? strlen(texts[i]) : 0;
	}
	if (is_whole) {
		fwrite(&item, sizeof(item), 1, r->out);
		fwrite(record, size, 1, r->out);
		for (size_t i = 0; i < count; i++)
			put_text(r, texts[i]);
		/* The tail follows the structure. */
		fwrite((const unsigned char *)record + size, 1, tail_size, r->out);
	}
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	return is_whole ? TRUE : VT_INVALID_STRING;
}

static void see_bytes(struct tb5_walk *walk, enum dat_kind kind, unsigned char *bytes,
		      TBRW_U32 size)
{
	if (kind == DAT_SYSTEM)
		dat_system_move(bytes, size, (uintptr_t)bytes, 0);
	reader_put(reader_of(walk), kind, bytes, size);
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

static TBRW_U32 read_data(struct tb5_walk *walk)
{
	struct reader *r = reader_of(walk);
	if (r->stream_out != SAMPLING_STREAM)
		return TBRW_enumerate_data(walk->file, walk->stream, see_data, r, 0);
	reader_put(r, DAT_DATA_FILE, r->data_name, strlen(r->data_name));
	return TBRW_enumerate_data(walk->file, walk->stream, see_sampling_data, r, 0);
}

static void begin_section(struct tb5_walk *walk, const struct tb5_walk_section *section,
			  TBRW_U32 code)
{
	if (code != VT_SECTION_NOT_EXIST)
		put_section(walk, DAT_SECTION, section->id);
}

static TBRW_U32 end_section(struct tb5_walk *walk, const struct tb5_walk_section *section,
			    TBRW_U32 code)
{
	if (code == VT_SUCCESS)
		put_section(walk, DAT_SECTION_DONE, section->id);
	return code;
}

TBRW_U32 reader_sections(struct reader *r, uint32_t stream)
{
	r->walk = (struct tb5_walk){
		.file = r->walk.file,
		.stream = stream,
		.begin = begin_section,
		.record = see_record,
		.bytes = see_bytes,
		.data = read_data,
		.end = end_section,
	};
	return tb5_walk_sections(&r->walk);
}
