/* The steps common to all records: references checked, texts placed, bytes appended. */
#include "profile/write/writer_private.h"
#include <assert.h>
#include <string.h>

TBRW_U32 profile_writer_keep(struct profile_writer *writer, TBRW_U32 code)
{
	if (writer->error == VT_SUCCESS)
		writer->error = code;
	return code;
}

TBRW_U32 profile_writer_append(struct profile_writer *writer, enum profile_stream stream,
			       const void *record, size_t size)
{
	assert(size <= UINT32_MAX);
	/* TBRW_add_data only reads its data: the parameter is const in all but name. */
	union {
		const void *given;
		void *taken;
	} data = {.given = record};
	return profile_writer_keep(writer, TBRW_add_data(writer->file,
							 writer->first_stream + (TBRW_U32)stream,
							 (TBRW_U32)size, data.taken));
}

/* Gives s its place among the texts and appends it if it is new. */
static TBRW_U32 place_text(struct profile_writer *writer, enum profile_stream stream, const char *s,
			   struct profile_text *text)
{
	assert(profile_stream_is_text(stream));
	switch (profile_text_add(&writer->texts, s, text)) {
	case PROFILE_TEXT_KNOWN:
		return VT_SUCCESS;
	case PROFILE_TEXT_NEW:
		return profile_writer_append(writer, stream, writer->texts.bytes + text->offset,
					     text->length);
	case PROFILE_TEXT_NO_MEMORY:
		break;
	}
	return profile_writer_keep(writer, VT_NO_MEMORY);
}

static TBRW_U32 place_texts(struct profile_writer *writer, const struct profile_stream_spec *spec,
			    uint64_t fields, const char *const *texts, union profile_record *record)
{
	while (fields) {
		const struct profile_stream_field *field = profile_take_field(spec, &fields);
		struct profile_text text;
		TBRW_U32 code =
			place_text(writer, field->refers_to, texts ? *texts++ : NULL, &text);
		if (code != VT_SUCCESS)
			return code;
		memcpy(record->bytes + field->offset, &text, sizeof(text));
	}
	return VT_SUCCESS;
}

bool profile_writer_accepts(const struct profile_writer *writer, enum profile_stream stream,
			    const void *record)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);

	for (uint64_t left = writer->fields[stream].indices; left;) {
		const struct profile_stream_field *field = profile_take_field(spec, &left);
		enum profile_stream target = profile_field_target(field, record);
		uint32_t index;
		memcpy(&index, (const char *)record + field->offset, sizeof(index));
		if (target == PROFILE_STREAM_COUNT || index >= writer->counts[target])
			return false;
	}
	return writer->counts[stream] < PROFILE_NONE;
}

TBRW_U32 profile_writer_add_accepted(struct profile_writer *writer, enum profile_stream stream,
				     const void *record, const char *const *texts, uint32_t *index)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	union profile_record copy;
	TBRW_U32 code = VT_SUCCESS;

	assert(writer->error == VT_SUCCESS && writer->counts[stream] < PROFILE_NONE);
	if (writer->fields[stream].texts) {
		assert(spec->record_size <= sizeof(copy.bytes));
		memcpy(copy.bytes, record, spec->record_size);
		code = place_texts(writer, spec, writer->fields[stream].texts, texts, &copy);
		record = copy.bytes;
	}
	if (code == VT_SUCCESS)
		code = profile_writer_append(writer, stream, record, spec->record_size);
	if (code != VT_SUCCESS)
		return code;
	if (index)
		*index = writer->counts[stream];
	writer->counts[stream]++;
	return VT_SUCCESS;
}

TBRW_U32 profile_writer_add(struct profile_writer *writer, enum profile_stream stream,
			    const void *record, const char *const *texts, uint32_t *index)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!profile_writer_accepts(writer, stream, record))
		return VT_BAD_PARAMETER;
	return profile_writer_add_accepted(writer, stream, record, texts, index);
}
