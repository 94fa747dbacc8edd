#include "tbrw/api/access.h"

#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <assert.h>

TBRW_U32 tb5_access_find_global(TBRW_PTR ptr, unsigned section, struct tb5_access *access)
{
	*access = (struct tb5_access){0};
	TBRW_U32 code = tb5_file_get(ptr, &access->file);
	if (code != VT_SUCCESS)
		return code;
	if (section >= TB5_GLOBAL_SECTIONS)
		return VT_UNKNOWN_SECTION_NUMBER;
	access->section = &access->file->sections[section];
	return VT_SUCCESS;
}

TBRW_U32 tb5_access_find_in_stream(TBRW_PTR ptr, uint32_t number, unsigned section,
				   struct tb5_access *access)
{
	TBRW_U32 code = tb5_file_get(ptr, &access->file);
	if (code == VT_SUCCESS)
		code = tb5_file_stream(access->file, number, &access->stream);
	if (code != VT_SUCCESS)
		return code;
	if (section >= TB5_STREAM_SECTIONS)
		return VT_UNKNOWN_SECTION_NUMBER;
	access->section = &access->stream->sections[section];
	return VT_SUCCESS;
}

/* The section and the sequence of a content, whatever the section is open for. */
static TBRW_U32 find_content(TBRW_PTR ptr, uint32_t number, unsigned content,
			     struct tb5_access *access, struct tb5_seq **seq)
{
	unsigned section = tb5_content_spec(content)->section;
	bool is_global = content < TB5_STREAM_FIRST;
	TBRW_U32 code = is_global ? tb5_access_find_global(ptr, section, access)
				  : tb5_access_find_in_stream(ptr, number, section, access);

	if (code == VT_SUCCESS)
		*seq = is_global ? tb5_file_seq(access->file, content)
				 : tb5_stream_seq(access->stream, content);
	return code;
}

TBRW_U32 tb5_access_write(TBRW_PTR ptr, uint32_t number, unsigned content,
			  struct tb5_access *access, struct tb5_seq **seq)
{
	TBRW_U32 code = find_content(ptr, number, content, access, seq);

	if (code != VT_SUCCESS)
		return code;
	if (access->section->state != TB5_WRITING)
		return VT_SECTION_NOT_WRITEABLE;
	return tb5_file_begin_write(access->file);
}

TBRW_U32 tb5_access_read(TBRW_PTR ptr, uint32_t number, unsigned content, struct tb5_access *access,
			 struct tb5_seq **seq)
{
	TBRW_U32 code = find_content(ptr, number, content, access, seq);

	if (code != VT_SUCCESS)
		return code;
	return access->section->reading ? VT_SUCCESS : VT_SECTION_NOT_READABLE;
}

TBRW_U32 tb5_access_add(TBRW_PTR ptr, uint32_t number, unsigned content, const void *record)
{
	const struct tb5_content_spec *spec = tb5_content_spec(content);
	union {
		TBRW_U64 aligned;
		char bytes[UINT8_MAX];
	} taken;
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_write(ptr, number, content, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!record)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_record_take(access.file, content, record, taken.bytes);
	if (code == VT_SUCCESS && spec->is_only && tb5_seq_size(seq))
		code = VT_SECTION_ALREADY_IN_USE;
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(access.file, seq, taken.bytes, spec->record_size);
}

TBRW_U32 tb5_access_append(TBRW_PTR ptr, uint32_t number, unsigned content, const void *bytes,
			   TBRW_U32 size)
{
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_write(ptr, number, content, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	return bytes ? tb5_file_append(access.file, seq, bytes, size) : VT_BUFFER_NULL;
}

TBRW_U32 tb5_access_get(TBRW_PTR ptr, uint32_t number, unsigned content, TBRW_U32 size_of_buffer,
			void *buffer, TBRW_U32 *size_used)
{
	uint32_t record_size = tb5_content_spec(content)->record_size;
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_U32 code = tb5_access_read(ptr, number, content, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (tb5_seq_size(seq) < record_size)
		return VT_ENTRY_NOT_FOUND;
	uint64_t size = record_size ? record_size : tb5_seq_size(seq);
	code = tb5_buffer_check(size, size_of_buffer, buffer, size_used);
	if (code != VT_SUCCESS)
		return code;
	return record_size ? tb5_record_read(access.file, seq, 0, buffer, record_size)
			   : tb5_seq_read(seq, &access.file->cache, 0, buffer, (size_t)size);
}

static TBRW_U32 hand_out(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	const struct tb5_callback *callback = context;

	switch (callback->content) {
	case TB5_PROCESSES:
		return callback->of.processes(records, size, count, callback->user);
	case TB5_THREADS:
		return callback->of.threads(records, size, count, callback->user);
	case TB5_MODULES:
		return callback->of.modules(records, size, count, callback->user);
	default:
		assert(callback->content == TB5_DESCRIPTORS);
		return callback->of.descriptors(records, size, count, callback->user);
	}
}

TBRW_U32 tb5_access_enumerate(TBRW_PTR ptr, uint32_t number, uint64_t start,
			      struct tb5_callback callback, tb5_access_count *count,
			      tb5_fetch *fetch)
{
	struct tb5_record_source source = {.size = tb5_content_spec(callback.content)->record_size};
	struct tb5_access access;
	TBRW_U32 code = tb5_access_read(ptr, number, callback.content, &access, &source.seq);
	uint64_t total = 0;

	if (code == VT_SUCCESS && count)
		code = count(access.file, callback.content, &total);
	else if (code == VT_SUCCESS)
		total = tb5_seq_size(source.seq) / source.size;
	if (code != VT_SUCCESS)
		return code;
	if (!callback.of.any)
		return VT_UNEXPECTED_NULL_PTR;
	return tb5_enumerate(access.file, fetch ? fetch : tb5_fetch_records, &source, total,
			     source.size, start, hand_out, &callback);
}
