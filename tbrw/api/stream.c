/* Stream sections other than data and its descriptors: stream information, events, user-defined. */
#include "tbrw/api/access.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <stdlib.h>
#include <string.h>

/* ---- Stream information ---- */

TBRW_U32 TBRW_set_stream_info(TBRW_PTR tbrw_ptr, TBRW_U32 stream, TBRW_STREAM_INFO *stream_info)
{
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_write(tbrw_ptr, stream, TB5_STREAM_INFO, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!stream_info)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_U32 type = stream_info->stream_type;
	if (stream_info->stream_info_size == sizeof(*stream_info) &&
	    (type < TBRW_SAMPLING_STREAM || type > TBRW_CUSTOM_STREAM ||
	     (type >= TBRW_BIND_DATA_INFORMATION_STREAM &&
	      type <= TBRW_BIND_TID_INFORMATION_STREAM)))
		return VT_UNEXPECTED_VALUE;
	return tb5_access_add(tbrw_ptr, stream, TB5_STREAM_INFO, stream_info);
}

TBRW_U32 TBRW_get_stream_info(TBRW_PTR tbrw_ptr, TBRW_U32 stream, TBRW_U32 size_of_buffer,
			      void *buf_ptr, TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(tbrw_ptr, stream, TB5_STREAM_INFO, size_of_buffer, buf_ptr,
			      size_buffer_used);
}

/* ---- Events ---- */

/* In the file, the number of the first detail stands in place of the pointer. */
_Static_assert(sizeof(TBRW_EVENT_DETAIL *) == sizeof(uint64_t), "FORMAT.md 3.2");

TBRW_U32 TBRW_add_event(TBRW_PTR ptr, TBRW_U32 stream, TBRW_EVENT *event_descriptor_entry)
{
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_EVENT record;
	TBRW_U32 code = tb5_access_write(ptr, stream, TB5_EVENTS, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!event_descriptor_entry)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_record_take(access.file, TB5_EVENTS, event_descriptor_entry, &record);
	if (code != VT_SUCCESS)
		return code;
	const TBRW_EVENT_DETAIL *given = record.event_detail_array;
	if (record.event_num_details && !given)
		return VT_UNEXPECTED_NULL_PTR;
	for (TBRW_U32 i = 0; i < record.event_num_details; i++)
		if (given[i].detail_size != sizeof(*given))
			return VT_UNSUPPORTED_DATA_SIZE;
	struct tb5_seq *details = tb5_stream_seq(access.stream, TB5_EVENT_DETAILS);
	uint64_t first = tb5_seq_size(details) / sizeof(*given);
	memcpy(&record.event_detail_array, &first, sizeof(first));
	code = tb5_file_append(access.file, details, given,
			       record.event_num_details * sizeof(*given));
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(access.file, seq, &record, sizeof(record));
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
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_read(ptr, stream, TB5_EVENTS, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	uint64_t total = tb5_seq_size(seq) / sizeof(TBRW_EVENT);
	if (start_index > total)
		return VT_INVALID_READ_START;
	code = TRUE;
	for (uint64_t i = start_index; i < total && code == TRUE; i++)
		code = emit_event(access.file, access.stream, i, callback_func, user_ptr);
	return code == TRUE ? VT_SUCCESS : code;
}

/* ---- User-defined ---- */

TBRW_U32 TBRW_set_user_defined_stream(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_data,
				      void *data_ptr)
{
	return tb5_access_append(ptr, stream, TB5_USER_STREAM, data_ptr, size_of_data);
}

TBRW_U32 TBRW_get_user_defined_stream(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_buffer,
				      void *buf_ptr, TBRW_U32 *size_buffer_used)
{
	return tb5_access_get(ptr, stream, TB5_USER_STREAM, size_of_buffer, buf_ptr,
			      size_buffer_used);
}
