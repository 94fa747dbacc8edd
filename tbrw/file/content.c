#include "tbrw/file/content.h"

#include "tbrw/file/file.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct tb5_content_spec specs[TB5_STREAM_END] = {
	[TB5_HARDWARE] = {.section = TBRW_HARDWARE_SECTION},
	[TB5_HOST] = {.section = TBRW_SOFTWARE_SECTION,
		      .is_only = true,
		      .record_size = sizeof(TBRW_HOST),
		      .strings = {offsetof(TBRW_HOST, host_ip_address),
				  offsetof(TBRW_HOST, host_name)},
		      .gaps = {{4, 0}, {28, 0}}},
	[TB5_OS] = {.section = TBRW_SOFTWARE_SECTION,
		    .is_only = true,
		    .record_size = sizeof(TBRW_OS),
		    .strings = {offsetof(TBRW_OS, os_name), offsetof(TBRW_OS, os_name_extra)}},
	[TB5_APPLICATION] = {.section = TBRW_SOFTWARE_SECTION,
			     .is_only = true,
			     .record_size = sizeof(TBRW_APPLICATION)},
	[TB5_PROCESSES] = {.section = TBRW_PROCESS_THREAD_SECTION,
			   .record_size = sizeof(TBRW_PID),
			   .strings = {offsetof(TBRW_PID, pid_path), offsetof(TBRW_PID, pid_name)}},
	[TB5_THREADS] = {.section = TBRW_PROCESS_THREAD_SECTION,
			 .record_size = sizeof(TBRW_TID),
			 .strings = {offsetof(TBRW_TID, tid_name)}},
	[TB5_MODULES] = {.section = TBRW_MODULE_SECTION,
			 .record_size = sizeof(TBRW_MODULE),
			 .strings = {offsetof(TBRW_MODULE, module_path),
				     offsetof(TBRW_MODULE, module_name),
				     offsetof(TBRW_MODULE, module_segment_name)},
			 .gaps = {{28, 3 /* module_segment_type */}, {36, 0}}},
	[TB5_USER_GLOBAL] = {.section = TBRW_USER_DEFINED_GLOBAL_SECTION},
	[TB5_VERSION_INFO] = {.section = TBRW_VERSION_INFO_SECTION,
			      .is_only = true,
			      .record_size = sizeof(TBRW_VERSION_INFO)},
	[TB5_EVENTS] = {.section = TBRW_EVENT_DESCRIPTION_SECTION,
			.record_size = sizeof(TBRW_EVENT),
			.strings = {offsetof(TBRW_EVENT, event_name),
				    offsetof(TBRW_EVENT, event_arch_name)}},
	[TB5_EVENT_DETAILS] = {.section = TBRW_EVENT_DESCRIPTION_SECTION,
			       .record_size = sizeof(TBRW_EVENT_DETAIL)},
	[TB5_DESCRIPTORS] = {.section = TBRW_DATA_DESCRIPTION_SECTION,
			     .record_size = sizeof(TBRW_SAMPREC_DESC_ENTRY),
			     .strings = {offsetof(TBRW_SAMPREC_DESC_ENTRY, desc_name)}},
	[TB5_DATA] = {.section = TBRW_DATA_SECTION},
	[TB5_USER_STREAM] = {.section = TBRW_USER_DEFINED_STREAM_SECTION},
	[TB5_STREAM_INFO] = {.section = TBRW_STREAM_INFO_SECTION,
			     .is_only = true,
			     .record_size = sizeof(TBRW_STREAM_INFO),
			     .strings = {offsetof(TBRW_STREAM_INFO, command_line),
					 offsetof(TBRW_STREAM_INFO, cpu_mask),
					 offsetof(TBRW_STREAM_INFO, comment)}},
};
_Static_assert(offsetof(TBRW_HOST, host_ip_address) == 8 && offsetof(TBRW_HOST, reserved) == 24,
	       "gaps");
_Static_assert(offsetof(TBRW_MODULE, module_segment_number) == 24 &&
		       offsetof(TBRW_MODULE, module_code_selector) == 32 &&
		       offsetof(TBRW_MODULE, module_length) == 40,
	       "gaps");

const struct tb5_content_spec *tb5_content_spec(unsigned content)
{
	assert(content >= TB5_GLOBAL_FIRST && content < TB5_STREAM_END);
	assert(content < TB5_GLOBAL_END || content >= TB5_STREAM_FIRST);
	return &specs[content];
}

/* ---- Records ---- */

TBRW_U32 tb5_record_take(struct tb5_file *file, unsigned content, const void *given, void *record)
{
	const struct tb5_content_spec *spec = tb5_content_spec(content);
	char *bytes = record;
	uint32_t size, word;

	assert(spec->record_size > 0);
	memcpy(&size, given, sizeof(size));
	if (size != spec->record_size)
		return VT_UNSUPPORTED_DATA_SIZE;
	memcpy(record, given, size);
	for (size_t i = 0; i < TB5_CONTENT_GAPS && spec->gaps[i].at; i++) {
		memcpy(&word, bytes + spec->gaps[i].at, sizeof(word));
		word &= spec->gaps[i].used;
		memcpy(bytes + spec->gaps[i].at, &word, sizeof(word));
	}
	for (size_t i = 0; i < TB5_CONTENT_STRINGS && spec->strings[i]; i++) {
		TBRW_STRING_OR_ID string;
		memcpy(&string, bytes + spec->strings[i], sizeof(string));
		TBRW_U32 code = tb5_file_intern(file, string, &string);
		if (code != VT_SUCCESS)
			return code;
		memcpy(bytes + spec->strings[i], &string, sizeof(string));
	}
	return VT_SUCCESS;
}

TBRW_U32 tb5_buffer_check(uint64_t needed, TBRW_U32 size_of_buffer, const void *buffer,
			  TBRW_U32 *size_used)
{
	if (needed > UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	if (size_used)
		*size_used = (TBRW_U32)needed;
	if (size_of_buffer < needed)
		return VT_BUFFER_TOO_SMALL;
	return buffer ? VT_SUCCESS : VT_BUFFER_NULL;
}

TBRW_U32 tb5_record_read(struct tb5_file *file, struct tb5_seq *seq, uint64_t index, void *record,
			 TBRW_U32 size)
{
	struct tb5_record_source source = {seq, size};

	return tb5_fetch_records(file, &source, index, 1, record);
}

TBRW_U32 tb5_fetch_entries(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			   void *records)
{
	const struct tb5_record_source *s = source;

	return tb5_seq_read(s->seq, &file->cache, index * s->size, records,
			    (size_t)count * s->size);
}

TBRW_U32 tb5_fetch_records(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			   void *records)
{
	const struct tb5_record_source *s = source;
	uint64_t total = tb5_seq_size(s->seq) / s->size;
	TBRW_U32 own_size;

	assert(s->size >= sizeof(own_size));
	if (index > total || total - index < count)
		return VT_ENTRY_NOT_FOUND;
	TBRW_U32 code = tb5_fetch_entries(file, source, index, count, records);
	for (TBRW_U32 i = 0; code == VT_SUCCESS && i < count; i++) {
		memcpy(&own_size, (char *)records + (size_t)i * s->size, sizeof(own_size));
		if (own_size != s->size)
			code = VT_INVALID_SAMPLE_FILE;
	}
	return code;
}

TBRW_U32 tb5_enumerate(struct tb5_file *file, tb5_fetch *fetch, void *source, uint64_t total,
		       TBRW_U32 size, uint64_t start, tb5_emit *emit, void *context)
{
	TBRW_U32 run = size < TB5_RUN_SIZE ? TB5_RUN_SIZE / size : 1;
	TBRW_U32 code = TRUE;

	if (start > total)
		return VT_INVALID_READ_START;
	if (start == total)
		return VT_SUCCESS;
	if (total - start < run)
		run = (TBRW_U32)(total - start);
	void *records = malloc((size_t)run * size);
	if (!records)
		return VT_NO_MEMORY;
	for (uint64_t at = start; at < total && code == TRUE; at += run) {
		if (total - at < run)
			run = (TBRW_U32)(total - at);
		code = fetch(file, source, at, run, records);
		if (code != VT_SUCCESS)
			break;
		code = emit(records, run * size, run, context);
	}
	free(records);
	/* TRUE and FALSE are no errors of the callback; any other value is. */
	return code == TRUE ? VT_SUCCESS : code;
}
