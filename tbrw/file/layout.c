/* The layout of entries, as descriptors say it. */
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"

TBRW_U32 tb5_layout_read(struct tb5_file *file, struct tb5_stream *stream,
			 struct tb5_layout *layout)
{
	struct tb5_seq *seq = tb5_stream_seq(stream, TB5_DESCRIPTORS);
	uint64_t count = tb5_seq_size(seq) / sizeof(TBRW_SAMPREC_DESC_ENTRY);
	struct tb5_layout l = {0, TB5_NO_FIELD, TB5_NO_FIELD, false};

	for (uint64_t i = 0; i < count; i++) {
		TBRW_SAMPREC_DESC_ENTRY d;
		TBRW_U32 code = tb5_record_read(file, seq, i, &d, sizeof(d));

		if (code != VT_SUCCESS)
			return code;
		if (!d.desc_data_size || d.desc_data_size > TB5_ENTRY_SIZE_MAX ||
		    d.desc_offset > TB5_ENTRY_SIZE_MAX - d.desc_data_size)
			return VT_INVALID_SAMPLE_FILE;
		if (d.desc_offset + d.desc_data_size > l.entry_size)
			l.entry_size = d.desc_offset + d.desc_data_size;
		if (d.desc_type == ST_LEGACY_SAMPLE_RECORD &&
		    d.desc_data_size == sizeof(TBRW_SampleRecordPC))
			l.record_offset = d.desc_offset;
		if (d.desc_type == ST_TIME_STAMP && d.desc_subtype == SST_TSC &&
		    d.desc_data_size == sizeof(TBRW_SampleRecordTSC))
			l.tsc_offset = d.desc_offset;
		l.has_event_id |= d.desc_type == ST_EVENT_ID;
	}
	if (!l.entry_size)
		return VT_DATA_DESC_NOT_EXIST;
	*layout = l;
	return VT_SUCCESS;
}

TBRW_U32 tb5_descriptor_append(struct tb5_file *file, struct tb5_stream *stream,
			       const TBRW_SAMPREC_DESC_ENTRY *entry)
{
	struct tb5_seq *data = tb5_stream_seq(stream, TB5_DATA);
	TBRW_SAMPREC_DESC_ENTRY d = *entry;
	struct tb5_layout layout;
	TBRW_U32 code = tb5_layout_read(file, stream, &layout);

	if (code == VT_DATA_DESC_NOT_EXIST)
		layout.entry_size = 0;
	else if (code != VT_SUCCESS)
		return code;
	else if (d.desc_offset == 0)
		d.desc_offset = layout.entry_size;
	if (!d.desc_data_size || d.desc_data_size > TB5_ENTRY_SIZE_MAX ||
	    d.desc_offset > TB5_ENTRY_SIZE_MAX - d.desc_data_size)
		return VT_UNSUPPORTED_DATA_SIZE;
	code = tb5_file_append(file, tb5_stream_seq(stream, TB5_DESCRIPTORS), &d, sizeof(d));
	if (code != VT_SUCCESS)
		return code;
	data->entry_size = layout.entry_size;
	if (d.desc_offset + d.desc_data_size > data->entry_size)
		data->entry_size = d.desc_offset + d.desc_data_size;
	return VT_SUCCESS;
}
