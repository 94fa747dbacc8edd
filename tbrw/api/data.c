#include "tbrw/api/access.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include "tbrw/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Data descriptors ---- */

TBRW_U32 TBRW_add_data_descriptor_entry(TBRW_PTR ptr, TBRW_U32 stream,
					TBRW_SAMPREC_DESC_ENTRY *data_descriptor_entry)
{
	struct tb5_access access;
	struct tb5_seq *seq;
	TBRW_SAMPREC_DESC_ENTRY entry;
	TBRW_U32 code = tb5_access_write(ptr, stream, TB5_DESCRIPTORS, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!data_descriptor_entry)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_record_take(access.file, TB5_DESCRIPTORS, data_descriptor_entry, &entry);
	if (code != VT_SUCCESS)
		return code;
	if (entry.desc_type >= ST_RESERVED_START || entry.desc_subtype >= SST_RESERVED_START)
		return VT_UNEXPECTED_VALUE;
	if (entry.desc_type == ST_LEGACY_SAMPLE_RECORD && stream != 0)
		return VT_INVALID_STREAM;
	return tb5_descriptor_append(access.file, access.stream, &entry);
}

TBRW_U32 TBRW_enumerate_data_descriptor_entries(TBRW_PTR ptr, TBRW_U32 stream,
						TBRW_DATA_DESC_CALLBACK *callback_func,
						void *user_ptr)
{
	struct tb5_callback callback = {TB5_DESCRIPTORS, user_ptr, {.descriptors = callback_func}};

	return tb5_access_enumerate(ptr, stream, 0, callback, NULL, NULL);
}

/* ---- Data ---- */

TBRW_U32 TBRW_add_data(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 size_of_data_entry, void *data_entry)
{
	struct tb5_stream *s;
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	/* As tb5_access_append, without a search for the known section: each sample comes here. */
	if (code == VT_SUCCESS)
		code = tb5_file_stream(file, stream, &s);
	if (code == VT_SUCCESS && s->sections[TBRW_DATA_SECTION].state != TB5_WRITING)
		code = VT_SECTION_NOT_WRITEABLE;
	if (code == VT_SUCCESS)
		code = tb5_file_begin_write(file);
	if (code == VT_SUCCESS && !data_entry)
		code = VT_BUFFER_NULL;
	if (code != VT_SUCCESS)
		return code;
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

/* A regular file other than the one being written (copying that would never end); -1: none. */
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
	struct tb5_access access;
	struct tb5_seq *seq;
	char *path;
	TBRW_U32 code = tb5_access_write(ptr, stream, TB5_DATA, &access, &seq);

	if (code != VT_SUCCESS)
		return code;
	if (!filename)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_utf8_dup_wide(filename, &path);
	if (code != VT_SUCCESS)
		return code;
	int fd = open_other(access.file, path);
	free(path);
	if (fd < 0)
		return VT_FILE_OPEN_FAILED;
	code = append_from_fd(access.file, seq, fd);
	close(fd);
	return code;
}

/* Entries up to a chunk's end, or a run's usual number. */
static uint32_t data_run(const struct tb5_record_source *s, uint64_t index, uint64_t left,
			 uint32_t usual)
{
	uint64_t offset = index * s->size;
	uint64_t bytes = tb5_seq_extent_end(s->seq, offset) - offset;
	uint64_t run = usual;

	if (bytes % s->size == 0 && bytes / s->size < usual)
		run = bytes / s->size;
	return (uint32_t)(left < run ? left : run);
}

static TBRW_U32 enumerate_runs(struct tb5_file *file, struct tb5_record_source *s, uint64_t start,
			       TBRW_DATA_CALLBACK *callback, void *user)
{
	uint64_t total = tb5_seq_size(s->seq) / s->size;
	uint32_t usual = s->size < TB5_RUN_SIZE ? TB5_RUN_SIZE / s->size : 1;
	uint32_t run;

	if (start > total)
		return VT_INVALID_READ_START;
	TBRW_U32 code = tb5_seq_load(s->seq);
	if (code != VT_SUCCESS)
		return code;
	void *records =
		malloc((size_t)(total - start < usual ? total - start + 1 : usual) * s->size);
	if (!records)
		return VT_NO_MEMORY;
	code = TRUE;
	for (uint64_t at = start; at < total && code == TRUE; at += run) {
		run = data_run(s, at, total - at, usual);
		code = tb5_fetch_entries(file, s, at, run, records);
		if (code != VT_SUCCESS)
			break;
		code = callback(records, run * s->size, run, user);
	}
	free(records);
	return code == TRUE ? VT_SUCCESS : code;
}

TBRW_U32 TBRW_enumerate_data(TBRW_PTR ptr, TBRW_U32 stream, TBRW_DATA_CALLBACK *callback_func,
			     void *user_ptr, TBRW_U64 start_index)
{
	struct tb5_record_source source;
	struct tb5_layout layout;
	struct tb5_access access;
	TBRW_U32 code = tb5_access_read(ptr, stream, TB5_DATA, &access, &source.seq);

	if (code != VT_SUCCESS)
		return code;
	if (!callback_func)
		return VT_UNEXPECTED_NULL_PTR;
	code = tb5_layout_read(access.file, access.stream, &layout);
	if (code != VT_SUCCESS)
		return code;
	source.size = layout.entry_size;
	return enumerate_runs(access.file, &source, start_index, callback_func, user_ptr);
}
