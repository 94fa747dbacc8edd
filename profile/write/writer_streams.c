/* The streams of a result as they are opened and closed, with what describes them. */
#include "profile/write/writer_private.h"

TBRW_U32 profile_stream_write_info(TBRW_PTR file, TBRW_U32 number, TBRW_STREAM_INFO *info)
{
	TBRW_U32 code = TBRW_writing_stream_section(file, number, TBRW_STREAM_INFO_SECTION);

	info->stream_info_size = sizeof(*info);
	if (code == VT_SUCCESS)
		code = TBRW_set_stream_info(file, number, info);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream_section(file, number, TBRW_STREAM_INFO_SECTION);
	return code;
}

static TBRW_U32 write_descriptor(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_field *field)
{
	struct profile_wide name = {0};

	if (!profile_wide_set(&name, field->name))
		return VT_NO_MEMORY;
	TBRW_SAMPREC_DESC_ENTRY entry = {
		.desc_size = sizeof(entry),
		.desc_offset = field->offset,
		.desc_type = field->type,
		.desc_subtype = field->subtype,
		.desc_data_size = field->size,
		.desc_name.soi_ptr = name.text,
	};
	TBRW_U32 code = TBRW_add_data_descriptor_entry(file, number, &entry);
	profile_wide_finish(&name);
	return code;
}

TBRW_U32 profile_stream_describe(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_spec *spec)
{
	TBRW_U32 code = TBRW_writing_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);

	for (uint32_t i = 0; code == VT_SUCCESS && i < spec->field_count; i++)
		code = write_descriptor(file, number, &spec->fields[i]);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);
	return code;
}

/* Opens a stream for writing: its information and descriptors are done, its data section is open.
 */
static TBRW_U32 create_stream(TBRW_PTR file, TBRW_U32 number, enum profile_stream stream)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	struct profile_wide name = {0};

	if (!profile_wide_set(&name, spec->name))
		return VT_NO_MEMORY;
	TBRW_STREAM_INFO info = {.stream_type = TBRW_CUSTOM_STREAM, .comment.soi_ptr = name.text};
	TBRW_U32 code = TBRW_writing_stream(file, number);
	if (code == VT_SUCCESS)
		code = profile_stream_write_info(file, number, &info);
	if (code == VT_SUCCESS)
		code = profile_stream_describe(file, number, spec);
	if (code == VT_SUCCESS)
		code = TBRW_writing_stream_section(file, number, TBRW_DATA_SECTION);
	profile_wide_finish(&name);
	return code;
}

TBRW_U32 profile_stream_done(TBRW_PTR file, TBRW_U32 number)
{
	TBRW_U32 code = TBRW_done_stream_section(file, number, TBRW_DATA_SECTION);

	return code == VT_SUCCESS ? TBRW_done_stream(file, number) : code;
}

TBRW_U32 profile_writer_open_streams(struct profile_writer *writer, enum profile_stream first,
				     enum profile_stream end)
{
	TBRW_U32 code = VT_SUCCESS;

	for (unsigned id = first; code == VT_SUCCESS && id < end; id++) {
		writer->fields[id] = profile_stream_references((enum profile_stream)id);
		code = create_stream(writer->file, writer->first_stream + id,
				     (enum profile_stream)id);
	}
	return code;
}

TBRW_U32 profile_writer_close_streams(struct profile_writer *writer, enum profile_stream first,
				      enum profile_stream end)
{
	TBRW_U32 code = VT_SUCCESS;

	for (unsigned id = first; code == VT_SUCCESS && id < end; id++)
		code = profile_stream_done(writer->file, writer->first_stream + id);
	return code;
}
