#include "tbrw/api/section.h"
#include "tbrw/file/layout.h"
#include "tbrw/file/record.h"
#include "tbrw/file/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Data descriptors ---- */

TBRW_U32 TBRW_add_data_descriptor_entry(TBRW_PTR ptr, TBRW_U32 stream,
					TBRW_SAMPREC_DESC_ENTRY *data_descriptor_entry)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_write(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!data_descriptor_entry)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_SAMPREC_DESC_ENTRY entry = *data_descriptor_entry;
	if (entry.desc_size != sizeof(entry))
		return VT_UNSUPPORTED_DATA_SIZE;
	if (entry.desc_type >= ST_RESERVED_START || entry.desc_subtype >= SST_RESERVED_START)
		return VT_UNEXPECTED_VALUE;
	if (entry.desc_type == ST_LEGACY_SAMPLE_RECORD && stream != 0)
		return VT_INVALID_STREAM;
	code = tb5_file_intern(file, data_descriptor_entry->desc_name, &entry.desc_name);
	return code == VT_SUCCESS ? tb5_descriptor_append(file, s, &entry) : code;
}

struct descriptor_emit {
	TBRW_DATA_DESC_CALLBACK *callback;
	void *user;
};

static TBRW_U32 emit_descriptors(void *records, TBRW_U32 size, TBRW_U32 count, void *context)
{
	struct descriptor_emit *e = context;

	return e->callback(records, size, count, e->user);
}

TBRW_U32 TBRW_enumerate_data_descriptor_entries(TBRW_PTR ptr, TBRW_U32 stream,
						TBRW_DATA_DESC_CALLBACK *callback_func,
						void *user_ptr)
{
	struct descriptor_emit emit = {callback_func, user_ptr};
	struct tb5_record_source source = {.size = sizeof(TBRW_SAMPREC_DESC_ENTRY)};
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code =
		tb5_stream_begin_read(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	source.seq = tb5_stream_seq(s, TB5_DESCRIPTORS);
	return tb5_enumerate(file, tb5_fetch_records, &source,
			     tb5_seq_size(source.seq) / source.size, source.size, 0,
			     emit_descriptors, &emit);
}

/* ---- Data ---- */

TBRW_U32 TBRW_add_data(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_data_entry, void *data_entry)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code = tb5_stream_begin_write(ptr, stream, TBRW_DATA_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!data_entry)
		return VT_BUFFER_NULL;
	return tb5_file_append(file, tb5_stream_seq(s, TB5_DATA), data_entry, size_of_data_entry);
}

static TBRW_U32 append_from_fd(struct tb5_file *file, struct tb5_seq *seq, int fd)
{
	char *buffer = malloc(TB5_BUFFER_SIZE);
	TBRW_U32 code = VT_SUCCESS;

	if (!buffer)
		return VT_NO_MEMORY;
	while (code == VT_SUCCESS) {
		ssize_t n = read(fd, buffer, TB5_BUFFER_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			code = n < 0 ? VT_SAMPLE_FILE_MAPPING_ERROR : VT_SUCCESS;
			break;
		}
		code = tb5_file_begin_write(file);
		if (code == VT_SUCCESS)
			code = tb5_file_append(file, seq, buffer, (size_t)n);
	}
	free(buffer);
	return code;
}

/* A regular file that is not the one being written, which would never end; -1 if it is none. */
static int open_other(const struct tb5_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat ours, there;

	if (fd >= 0 &&
	    (fstat(fd, &there) < 0 || !S_ISREG(there.st_mode) || fstat(file->store.fd, &ours) < 0 ||
	     (ours.st_dev == there.st_dev && ours.st_ino == there.st_ino))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

TBRW_U32 TBRW_add_data_from_file(TBRW_PTR ptr, TBRW_U32 stream, TBRW_CHAR *filename)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	bool invalid;
	TBRW_U32 code = tb5_stream_begin_write(ptr, stream, TBRW_DATA_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!filename)
		return VT_UNEXPECTED_NULL_PTR;
	char *path = tb5_utf8_dup_wcs(filename, &invalid);
	if (!path)
		return invalid ? VT_INVALID_STRING : VT_NO_MEMORY;
	int fd = open_other(file, path);
	free(path);
	if (fd < 0)
		return VT_FILE_OPEN_FAILED;
	code = append_from_fd(file, tb5_stream_seq(s, TB5_DATA), fd);
	close(fd);
	return code;
}

struct data_source {
	struct tb5_seq *seq;
	uint32_t entry_size;
};

/* Entries that end where a chunk ends, or as many as a run usually has. */
static uint32_t data_run(const struct data_source *s, uint64_t index, uint64_t left, uint32_t usual)
{
	uint64_t offset = index * s->entry_size;
	uint64_t bytes = tb5_seq_extent_end(s->seq, offset) - offset;
	uint64_t run = usual;

	if (bytes % s->entry_size == 0 && bytes / s->entry_size < usual)
		run = bytes / s->entry_size;
	return (uint32_t)(left < run ? left : run);
}

static TBRW_U32 enumerate_runs(struct tb5_file *file, const struct data_source *s, uint64_t start,
			       TBRW_DATA_CALLBACK *callback, void *user)
{
	uint64_t total = tb5_seq_size(s->seq) / s->entry_size;
	uint32_t usual = s->entry_size < TB5_RUN_SIZE ? TB5_RUN_SIZE / s->entry_size : 1;
	uint32_t run;

	if (start > total)
		return VT_INVALID_READ_START;
	TBRW_U32 code = tb5_seq_load(s->seq);
	if (code != VT_SUCCESS)
		return code;
	void *records =
		malloc((size_t)(total - start < usual ? total - start + 1 : usual) * s->entry_size);
	if (!records)
		return VT_NO_MEMORY;
	code = TRUE;
	for (uint64_t at = start; at < total && code == TRUE; at += run) {
		run = data_run(s, at, total - at, usual);
		code = tb5_seq_read(s->seq, &file->cache, at * s->entry_size, records,
				    (size_t)run * s->entry_size);
		if (code != VT_SUCCESS)
			break;
		code = callback(records, run * s->entry_size, run, user);
	}
	free(records);
	return code == TRUE ? VT_SUCCESS : code;
}

TBRW_U32 TBRW_enumerate_data(TBRW_PTR ptr, TBRW_U32 stream, TBRW_DATA_CALLBACK *callback_func,
			     void *user_ptr, TBRW_U64 start_index)
{
	struct tb5_layout layout;
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code = tb5_stream_begin_read(ptr, stream, TBRW_DATA_SECTION, &file, &s);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_layout_read(file, s, &layout);
	if (code != VT_SUCCESS)
		return code;
	struct data_source source =
		(struct data_source){tb5_stream_seq(s, TB5_DATA), layout.entry_size};
	return enumerate_runs(file, &source, start_index, callback_func, user_ptr);
}
