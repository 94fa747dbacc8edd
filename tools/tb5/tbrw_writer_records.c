/* Items into calls. */
#include "tools/memory/xalloc.h"
#include "tools/tb5/tb5_text.h"
#include "tools/tb5/tbrw_writer.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A structure from an item, its strings in the API's form. */
struct record {
	unsigned char *bytes;
	TBRW_CHAR *strings[DAT_STRINGS_MAX];
	unsigned char *tail; /* of the payload: not taken yet */
	uint64_t tail_size;
};

static void record_finish(struct record *record)
{
	for (size_t i = 0; i < DAT_STRINGS_MAX; i++)
		free(record->strings[i]);
}

/* Takes the next string; *wide stays NULL for none. */
static TBRW_U32 take_string(struct record *record, TBRW_CHAR **wide)
{
	uint32_t length;
	if (record->tail_size < sizeof(length))
		return VT_BAD_PARAMETER;
	memcpy(&length, record->tail, sizeof(length));
	record->tail += sizeof(length);
	record->tail_size -= sizeof(length);
	if (length == DAT_NO_STRING)
		return VT_SUCCESS;
	if (length > record->tail_size || memchr(record->tail, 0, length))
		return VT_BAD_PARAMETER;
	char *utf8 = xalloc_text_of((const char *)record->tail, length);
	record->tail += length;
	record->tail_size -= length;
	TBRW_U32 code = tb5_text_widen(utf8, wide);
	free(utf8);
	return code;
}

static TBRW_U32 record_init(struct record *record, const struct dat_item *item,
			    unsigned char *payload)
{
	enum dat_kind kind = (enum dat_kind)item->kind;
	size_t size = dat_record_of(kind)->size;
	size_t places[DAT_STRINGS_MAX];
	size_t count = dat_texts_of(kind, places);
	*record = (struct record){.bytes = payload};
	if (item->size < size)
		return VT_BAD_PARAMETER;
	record->tail = payload + size;
	record->tail_size = item->size - size;
	for (size_t i = 0; i < count; i++) {
		TBRW_CHAR **text = &record->strings[i];
		TBRW_U32 code = take_string(record, text);
		if (code != VT_SUCCESS)
			return code;
		memcpy(payload + places[i], text, sizeof(*text));
	}
	return VT_SUCCESS;
}

/* The details are copied: behind strings of any length they need not be aligned. */
static TBRW_U32 put_event(struct writer *w, uint32_t stream, const struct record *record)
{
	TBRW_EVENT *event = (TBRW_EVENT *)(void *)record->bytes;
	if (record->tail_size / sizeof(TBRW_EVENT_DETAIL) != event->event_num_details ||
	    record->tail_size % sizeof(TBRW_EVENT_DETAIL))
		return VT_BAD_PARAMETER;
	event->event_detail_array = NULL;
	if (record->tail_size) {
		event->event_detail_array = xalloc_zeroed(record->tail_size, 1);
		memcpy(event->event_detail_array, record->tail, record->tail_size);
	}
	TBRW_U32 code = TBRW_add_event(w->file, stream, event);
	free(event->event_detail_array);
	return code;
}

static TBRW_U32 put_record(struct writer *w, const struct dat_item *item,
			   const struct record *record)
{
	void *bytes = record->bytes;
	switch (item->kind) {
	case DAT_HOST:
		return TBRW_set_host(w->file, bytes);
	case DAT_OS:
		return TBRW_set_os(w->file, bytes);
	case DAT_APPLICATION:
		return TBRW_set_application(w->file, bytes);
	case DAT_PROCESS:
		return TBRW_add_process(w->file, bytes);
	case DAT_THREAD:
		return TBRW_add_thread(w->file, bytes);
	case DAT_MODULE:
		return TBRW_add_module(w->file, bytes);
	case DAT_VERSION_INFO:
		return TBRW_set_version_info(w->file, bytes);
	case DAT_STREAM_INFO:
		return TBRW_set_stream_info(w->file, item->stream, bytes);
	case DAT_EVENT:
		return put_event(w, item->stream, record);
	case DAT_DESCRIPTOR:
		return TBRW_add_data_descriptor_entry(w->file, item->stream, bytes);
	default:
		return VT_BAD_PARAMETER;
	}
}

static TBRW_U32 put_structure(struct writer *w, const struct dat_item *item, unsigned char *payload)
{
	struct record record;
	TBRW_U32 code = record_init(&record, item, payload);
	if (code == VT_SUCCESS)
		code = put_record(w, item, &record);
	record_finish(&record);
	return code;
}

/* The second file lies beside the first one; a name that leads elsewhere is refused. */
static TBRW_U32 put_data_file(struct writer *w, const struct dat_item *item,
			      const unsigned char *payload)
{
	TBRW_CHAR *wide = NULL;
	if (!item->size || item->size > NAME_MAX || memchr(payload, 0, item->size) ||
	    memchr(payload, '/', item->size))
		return VT_BAD_PARAMETER;
	char *path = xalloc_printf("%s/%.*s", w->folder, (int)item->size, (const char *)payload);
	TBRW_U32 code = tb5_text_widen(path, &wide);
	free(path);
	if (code != VT_SUCCESS)
		return code;
	code = TBRW_add_data_from_file(w->file, item->stream, wide);
	free(wide);
	return code;
}

static TBRW_U32 put_system(struct writer *w, const struct dat_item *item, unsigned char *payload)
{
	if (!dat_system_move(payload, item->size, 0, (uintptr_t)payload))
		return VT_BAD_PARAMETER;
	return TBRW_set_system(w->file, (TBRW_SYSTEM *)(void *)payload);
}

static TBRW_U32 begin_section(struct writer *w, const struct dat_item *item)
{
	return item->stream == DAT_NO_STREAM
		       ? TBRW_writing_section(w->file, (TBRW_SECTION_IDENTIFIER)item->section)
		       : TBRW_writing_stream_section(w->file, item->stream,
						     (TBRW_STREAM_SECTION_IDENTIFIER)item->section);
}

static TBRW_U32 end_section(struct writer *w, const struct dat_item *item)
{
	return item->stream == DAT_NO_STREAM
		       ? TBRW_done_section(w->file, (TBRW_SECTION_IDENTIFIER)item->section)
		       : TBRW_done_stream_section(w->file, item->stream,
						  (TBRW_STREAM_SECTION_IDENTIFIER)item->section);
}

TBRW_U32 writer_put(struct writer *w, const struct dat_item *item, unsigned char *payload)
{
	TBRW_U32 size = (TBRW_U32)item->size;
	switch (item->kind) {
	case DAT_SECTION:
		return begin_section(w, item);
	case DAT_SECTION_DONE:
		return end_section(w, item);
	case DAT_STREAM:
		return TBRW_writing_stream(w->file, item->stream);
	case DAT_STREAM_DONE:
		return TBRW_done_stream(w->file, item->stream);
	case DAT_SYSTEM:
		return put_system(w, item, payload);
	case DAT_USER_GLOBAL:
		return TBRW_set_user_defined_global(w->file, size, payload);
	case DAT_USER_STREAM:
		return TBRW_set_user_defined_stream(w->file, item->stream, size, payload);
	case DAT_DATA:
		return TBRW_add_data(w->file, item->stream, size, payload);
	case DAT_DATA_FILE:
		return put_data_file(w, item, payload);
	default:
		return item->kind < DAT_ITEM_KINDS && dat_record_of((enum dat_kind)item->kind)->size
			       ? put_structure(w, item, payload)
			       : VT_BAD_PARAMETER;
	}
}
