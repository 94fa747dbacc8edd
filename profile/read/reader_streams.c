/* The streams of a file: which ones it has, and which of their fields. */
#include "profile/read/reader_private.h"
#include "tbrw/utf8.h"
#include <stdlib.h>
#include <string.h>

/* A stream whose information is not there is not one of ours; without memory nobody knows. */
static TBRW_U32 read_comment(TBRW_PTR file, TBRW_U32 stream, char **comment)
{
	TBRW_STREAM_INFO info;
	size_t size;
	TBRW_U32 code = TBRW_reading_stream_section(file, stream, TBRW_STREAM_INFO_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_get_stream_info(file, stream, sizeof(info), &info, NULL);
		if (code == VT_SUCCESS && info.stream_type == TBRW_CUSTOM_STREAM)
			code = tb5_utf8_of_id(file, info.comment, comment, &size);
		TBRW_done_stream_section(file, stream, TBRW_STREAM_INFO_SECTION);
	}
	return code == VT_NO_MEMORY ? code : VT_SUCCESS;
}

/* A stream's id among the profile's streams; PROFILE_STREAM_COUNT: none of them. */
static TBRW_U32 identify(TBRW_PTR file, TBRW_U32 stream, enum profile_stream *id)
{
	char *comment = NULL;
	unsigned found = PROFILE_STREAM_COUNT;
	TBRW_U32 code = TBRW_reading_stream(file, stream);

	if (code == VT_SUCCESS) {
		code = read_comment(file, stream, &comment);
		TBRW_done_stream(file, stream);
	}
	if (comment)
		for (found = 0; found < PROFILE_STREAM_COUNT; found++)
			if (strcmp(comment, profile_stream_spec(found)->name) == 0)
				break;
	free(comment);
	*id = found;
	return code == VT_NO_MEMORY ? code : VT_SUCCESS;
}

#define GROUP_STREAMS (PROFILE_STREAM_COUNT - PROFILE_STREAM_EXTERNAL)

/* Notes a stream of external data: an import has all of them, in their order. false: out of memory.
 */
static bool note_external(struct profile_reader *reader, enum profile_stream id, uint32_t stream)
{
	struct profile_external *external = &reader->external;

	if (id == PROFILE_STREAM_EXTERNAL)
		external->run = 1;
	else if (external->run > 0 && id == PROFILE_STREAM_EXTERNAL + external->run)
		external->run++;
	else
		external->run = 0;
	if (external->run < GROUP_STREAMS)
		return true;
	external->run = 0;
	struct profile_group *grown = reallocarray(external->groups, external->group_count + 1,
						   sizeof(*external->groups));
	if (!grown)
		return false;
	external->groups = grown;
	external->groups[external->group_count++] = (struct profile_group){
		.first_stream = stream + 1 - GROUP_STREAMS - PROFILE_STREAM_EXTERNAL,
	};
	return true;
}

TBRW_U32 profile_reader_find_streams(struct profile_reader *reader, bool *is_any)
{
	TBRW_U32 count;
	TBRW_U32 code = TBRW_get_number_data_streams(reader->file, &count);
	enum profile_stream previous = PROFILE_STREAM_COUNT;

	*is_any = false;
	for (unsigned id = 0; id < PROFILE_STREAM_COUNT; id++)
		reader->streams[id] = PROFILE_NONE;
	for (TBRW_U32 stream = 1; code == VT_SUCCESS && stream < count; stream++) {
		enum profile_stream id;
		code = identify(reader->file, stream, &id);
		if (id == PROFILE_STREAM_SYMBOLS && previous == PROFILE_STREAM_SYMTEXT) {
			reader->streams[PROFILE_STREAM_SYMTEXT] = stream - 1;
			reader->streams[PROFILE_STREAM_SYMBOLS] = stream;
		} else if (id < PROFILE_STREAM_COLLECTED && reader->streams[id] == PROFILE_NONE) {
			reader->streams[id] = stream;
			*is_any = true;
		}
		if (code == VT_SUCCESS && !note_external(reader, id, stream))
			code = VT_NO_MEMORY;
		previous = id;
	}
	return code;
}

/* What a descriptor set has of a spec. */
struct check {
	TBRW_PTR file;
	const struct profile_stream_spec *spec;
	uint64_t found; /* bit per field of the spec */
	uint64_t entry_size;
};

static bool field_is(const struct profile_stream_field *field, const char *name,
		     const TBRW_SAMPREC_DESC_ENTRY *entry)
{
	return field->offset == entry->desc_offset && field->size == entry->desc_data_size &&
	       strcmp(field->name, name) == 0;
}

static TBRW_U32 check_descriptors(TBRW_SAMPREC_DESC_ENTRY *entries, TBRW_U32 size, TBRW_U32 count,
				  void *user)
{
	struct check *check = user;

	if (size / sizeof(*entries) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		uint64_t end = (uint64_t)entries[i].desc_offset + entries[i].desc_data_size;
		if (end > check->entry_size)
			check->entry_size = end;
		char *name;
		size_t length;
		TBRW_U32 code = tb5_utf8_of_id(check->file, entries[i].desc_name, &name, &length);
		if (code == VT_NO_MEMORY)
			return code;
		if (code != VT_SUCCESS)
			continue;
		for (uint32_t f = 0; f < check->spec->field_count; f++)
			if (field_is(&check->spec->fields[f], name, &entries[i]))
				check->found |= UINT64_C(1) << f;
		free(name);
	}
	return TRUE;
}

/* Bytes of the record, by the fields found: up to the first one missing. */
static uint32_t known_size_of(const struct profile_stream_spec *spec, uint64_t found)
{
	uint32_t count = 0;

	while (count < spec->field_count && found >> count & 1)
		count++;
	if (count < (spec->first_count ? spec->first_count : spec->field_count))
		return 0;
	return count < spec->field_count ? spec->fields[count].offset : spec->record_size;
}

TBRW_U32 profile_stream_check(TBRW_PTR file, TBRW_U32 number,
			      const struct profile_stream_spec *spec, uint32_t *known_size,
			      uint32_t *entry_size)
{
	struct check check = {.file = file, .spec = spec};
	TBRW_U32 code = TBRW_reading_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);

	if (code != VT_SUCCESS)
		return code;
	code = TBRW_enumerate_data_descriptor_entries(file, number, check_descriptors, &check);
	TBRW_done_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);
	if (code != VT_SUCCESS)
		return code;
	if (check.entry_size > UINT32_MAX)
		return VT_INCOMPATIBLE_VERSION;
	*known_size = known_size_of(spec, check.found);
	*entry_size = (uint32_t)check.entry_size;
	return *known_size > 0 ? VT_SUCCESS : VT_INCOMPATIBLE_VERSION;
}
