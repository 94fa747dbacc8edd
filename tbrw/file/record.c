#include "tbrw/file/record.h"

#include <stdlib.h>
#include <string.h>

TBRW_U32 tb5_record_set(struct tb5_file *file, struct tb5_seq *seq, const void *record, size_t size)
{
	if (tb5_seq_size(seq))
		return VT_SECTION_ALREADY_IN_USE;
	return tb5_file_append(file, seq, record, size);
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

TBRW_U32 tb5_record_get(struct tb5_file *file, struct tb5_seq *seq, TBRW_U32 size,
			TBRW_U32 size_of_buffer, void *buffer, TBRW_U32 *size_used)
{
	if (tb5_seq_size(seq) < size)
		return VT_ENTRY_NOT_FOUND;
	TBRW_U32 code = tb5_buffer_check(size, size_of_buffer, buffer, size_used);
	return code == VT_SUCCESS ? tb5_record_read(file, seq, 0, buffer, size) : code;
}

TBRW_U32 tb5_bytes_get(struct tb5_file *file, struct tb5_seq *seq, TBRW_U32 size_of_buffer,
		       void *buffer, TBRW_U32 *size_used)
{
	uint64_t size = tb5_seq_size(seq);
	TBRW_U32 code = tb5_buffer_check(size, size_of_buffer, buffer, size_used);

	return code == VT_SUCCESS ? tb5_seq_read(seq, &file->cache, 0, buffer, (size_t)size) : code;
}

TBRW_U32 tb5_fetch_records(struct tb5_file *file, void *source, uint64_t index, TBRW_U32 count,
			   void *records)
{
	const struct tb5_record_source *s = source;
	uint64_t total = tb5_seq_size(s->seq) / s->size;
	TBRW_U32 own_size;

	if (index > total || total - index < count)
		return VT_ENTRY_NOT_FOUND;
	TBRW_U32 code = tb5_seq_read(s->seq, &file->cache, index * s->size, records,
				     (size_t)count * s->size);
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
	/* TRUE and FALSE both mean that the callback is content; any other value is its error. */
	return code == TRUE ? VT_SUCCESS : code;
}
