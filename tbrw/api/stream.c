/* Stream sections other than data and its descriptors: stream information, events, user-defined. */
#include "tbrw/api/section.h"
#include "tbrw/file/record.h"
#include <stdlib.h>
#include <string.h>

/* ---- Stream information ---- */

TBRW_U32 TBRW_set_stream_info(TBRW_PTR tbrw_ptr, TBRW_U32 stream, TBRW_STREAM_INFO *stream_info)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_write(tbrw_ptr, stream, TBRW_STREAM_INFO_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!stream_info)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_STREAM_INFO record = *stream_info;
	if (record.stream_info_size != sizeof(record))
		return VT_UNSUPPORTED_DATA_SIZE;
	if (record.stream_type < TBRW_SAMPLING_STREAM || record.stream_type > TBRW_CUSTOM_STREAM ||
	    (record.stream_type >= TBRW_BIND_DATA_INFORMATION_STREAM &&
	     record.stream_type <= TBRW_BIND_TID_INFORMATION_STREAM))
		return VT_UNEXPECTED_VALUE;
	code = tb5_file_intern(file, stream_info->command_line, &record.command_line);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, stream_info->cpu_mask, &record.cpu_mask);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, stream_info->comment, &record.comment);
	if (code != VT_SUCCESS)
		return code;
	return tb5_record_set(file, tb5_stream_seq(s, TB5_STREAM_INFO), &record, sizeof(record));
}

TBRW_U32 TBRW_get_stream_info(TBRW_PTR tbrw_ptr, TBRW_U32 stream, TBRW_U32 size_of_buffer,
			      void *buf_ptr, TBRW_U32 *size_buffer_used)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_read(tbrw_ptr, stream, TBRW_STREAM_INFO_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	return tb5_record_get(file, tb5_stream_seq(s, TB5_STREAM_INFO), sizeof(TBRW_STREAM_INFO),
			      size_of_buffer, buf_ptr, size_buffer_used);
}

/* ---- Events ---- */

static TBRW_U32 append_details(struct tb5_file *file, struct tb5_seq *seq, const TBRW_EVENT *event)
{
	for (TBRW_U32 i = 0; i < event->event_num_details; i++) {
		TBRW_U32 code = tb5_file_append(file, seq, &event->event_detail_array[i],
						sizeof(TBRW_EVENT_DETAIL));

		if (code != VT_SUCCESS)
			return code;
	}
	return VT_SUCCESS;
}

TBRW_U32 TBRW_add_event(TBRW_PTR ptr, TBRW_U32 stream, TBRW_EVENT *event_descriptor_entry)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_write(ptr, stream, TBRW_EVENT_DESCRIPTION_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!event_descriptor_entry)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_EVENT record = *event_descriptor_entry;
	if (record.event_size != sizeof(record))
		return VT_UNSUPPORTED_DATA_SIZE;
	if (record.event_num_details && !record.event_detail_array)
		return VT_UNEXPECTED_NULL_PTR;
	for (TBRW_U32 i = 0; i < record.event_num_details; i++)
		if (record.event_detail_array[i].detail_size != sizeof(TBRW_EVENT_DETAIL))
			return VT_UNSUPPORTED_DATA_SIZE;
	code = tb5_file_intern(file, event_descriptor_entry->event_name, &record.event_name);
	if (code == VT_SUCCESS)
		code = tb5_file_intern(file, event_descriptor_entry->event_arch_name,
				       &record.event_arch_name);
	if (code != VT_SUCCESS)
		return code;
	struct tb5_seq *details = tb5_stream_seq(s, TB5_EVENT_DETAILS);
	uint64_t first = tb5_seq_size(details) / sizeof(TBRW_EVENT_DETAIL);
	memcpy(&record.event_detail_array, &first, sizeof(first));
	code = append_details(file, details, event_descriptor_entry);
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(file, tb5_stream_seq(s, TB5_EVENTS), &record, sizeof(record));
}

/* Calls back for one event, its details behind it. */
static TBRW_U32 emit_event(struct tb5_file *file, struct tb5_stream *stream, uint64_t index,
			   TBRW_EVENT_CALLBACK *callback, void *user)
{
	struct tb5_seq *seq = tb5_stream_seq(stream, TB5_EVENT_DETAILS);
	uint64_t total = tb5_seq_size(seq) / sizeof(TBRW_EVENT_DETAIL);
	TBRW_EVENT record, *event;
	uint64_t first;
	TBRW_U32 code = tb5_record_read(file, tb5_stream_seq(stream, TB5_EVENTS), index, &record,
					sizeof(record));

	if (code != VT_SUCCESS)
		return code;
	memcpy(&first, &record.event_detail_array, sizeof(first));
	if (first > total || record.event_num_details > total - first ||
	    record.event_num_details > (UINT32_MAX - sizeof(record)) / sizeof(TBRW_EVENT_DETAIL))
		return VT_INVALID_SAMPLE_FILE;
	size_t size = record.event_num_details * sizeof(TBRW_EVENT_DETAIL);
	event = malloc(sizeof(*event) + size);
	if (!event)
		return VT_NO_MEMORY;
	*event = record;
	event->event_detail_array = size ? (TBRW_EVENT_DETAIL *)(event + 1) : NULL;
	code = tb5_seq_read(seq, &file->cache, first * sizeof(TBRW_EVENT_DETAIL), event + 1, size);
	if (code == VT_SUCCESS)
		code = callback(event, (TBRW_U32)(sizeof(*event) + size), 1, user);
	free(event);
	return code;
}

TBRW_U32 TBRW_enumerate_events(TBRW_PTR ptr, TBRW_U32 stream, TBRW_EVENT_CALLBACK *callback_func,
			       void *user_ptr, TBRW_U64 start_index)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_read(ptr, stream, TBRW_EVENT_DESCRIPTION_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	uint64_t total = tb5_seq_size(tb5_stream_seq(s, TB5_EVENTS)) / sizeof(TBRW_EVENT);
	if (start_index > total)
		return VT_INVALID_READ_START;
	code = TRUE;
	for (uint64_t i = start_index; i < total && code == TRUE; i++)
		code = emit_event(file, s, i, callback_func, user_ptr);
	return code == TRUE ? VT_SUCCESS : code;
}

/* ---- User-defined ---- */

TBRW_U32 TBRW_set_user_defined_stream(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_data,
				      void *data_ptr)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_write(ptr, stream, TBRW_USER_DEFINED_STREAM_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!data_ptr)
		return VT_BUFFER_NULL;
	return tb5_file_append(file, tb5_stream_seq(s, TB5_USER_STREAM), data_ptr, size_of_data);
}

TBRW_U32 TBRW_get_user_defined_stream(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_buffer,
				      void *buf_ptr, TBRW_U32 *size_buffer_used)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_read(ptr, stream, TBRW_USER_DEFINED_STREAM_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	return tb5_bytes_get(file, tb5_stream_seq(s, TB5_USER_STREAM), size_of_buffer, buf_ptr,
			     size_buffer_used);
}
