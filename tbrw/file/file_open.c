/* Opens, closes and verifies files. */
#include "tbrw/file/catalog.h"
#include "tbrw/file/file.h"
#include "tbrw/utf8.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_destroy(struct tb5_file *file)
{
	file->magic = 0;
	tb5_file_remove_streams(file, 0);
	free(file->streams);
	for (size_t i = 0; i < TB5_GLOBAL_END - TB5_GLOBAL_FIRST; i++)
		tb5_seq_finish(&file->seqs[i]);
	tb5_strings_finish(&file->strings);
	tb5_cache_finish(&file->cache);
	tb5_store_close(&file->store);
	tb5_store_close(&file->temporary);
	free(file->path);
	free(file);
}

static struct tb5_file *file_new(void)
{
	struct tb5_file *file = calloc(1, sizeof(*file));
	struct timespec now;

	if (!file)
		return NULL;
	file->magic = TB5_FILE_HANDLE;
	file->store.fd = -1;
	file->temporary.fd = -1;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	file->flushed_at = now.tv_sec;
	file->flushed_at_ns = now.tv_nsec;
	tb5_strings_init(&file->strings, &file->store);
	for (unsigned c = TB5_GLOBAL_FIRST; c < TB5_GLOBAL_END; c++)
		tb5_seq_init(tb5_file_seq(file, c), (uint16_t)c, TB5_NO_STREAM, &file->store);
	return file;
}

static TBRW_U32 file_create(struct tb5_file *file)
{
	TBRW_U32 code = tb5_store_create(&file->store, file->path);

	file->created = true;
	file->changed = true;
	file->opened_end = file->store.end;
	return code;
}

static TBRW_U32 file_open(struct tb5_file *file)
{
	TBRW_U32 code = tb5_store_open(&file->store, file->path, file->writable);
	uint64_t size = file->store.end;

	if (code == VT_SUCCESS)
		code = tb5_catalog_load(file);
	if (code != VT_SUCCESS)
		return code;
	if (file->incomplete && file->writable)
		return VT_INCOMPLETE_TB5_ENCOUNTERED;
	/* An earlier writer added chunks and never closed the file (FORMAT.md 1.4). */
	if (file->writable && file->store.end < size)
		tb5_store_truncate(&file->store, file->store.end);
	file->opened_end = file->store.end;
	return VT_SUCCESS;
}

TBRW_U32 tb5_utf8_open(TBRW_PTR *ptr, const char *path, TBRW_U32 access_mode)
{
	bool create = access_mode & TBRW_FILE_CREATE_ALWAYS;
	bool writable = access_mode & TBRW_FILE_WRITE;

	if (!*path)
		return VT_EMPTY_SAMPLE_FILE_NAME;
	if (!access_mode || (create && !writable) ||
	    access_mode & ~(TBRW_FILE_READ | TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS))
		return VT_INVALID_ACCESS_PERMS;
	struct tb5_file *file = file_new();
	if (!file)
		return VT_NO_MEMORY;
	file->writable = writable;
	file->path = strdup(path);
	TBRW_U32 code = VT_NO_MEMORY;
	if (file->path)
		code = create ? file_create(file) : file_open(file);
	if (code != VT_SUCCESS) {
		file_destroy(file);
		return code;
	}
	*ptr = file;
	return VT_SUCCESS;
}

TBRW_U32 tb5_utf8_whole_size(const char *path, TBRW_U64 *whole, TBRW_U64 *size)
{
	struct tb5_file *file = file_new();

	if (!file)
		return VT_NO_MEMORY;
	TBRW_U32 code = tb5_store_open(&file->store, path, false);
	uint64_t end = 0;
	*size = file->store.end;
	if (code == VT_SUCCESS)
		code = tb5_catalog_whole(file, &end);
	*whole = end;
	file_destroy(file);
	return code;
}

TBRW_U32 TBRW_open(TBRW_PTR *ptr, const TBRW_CHAR *filename, TBRW_U32 access_mode)
{
	char *path;

	if (!ptr || !filename)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_U32 code = tb5_utf8_dup_wide(filename, &path);
	if (code != VT_SUCCESS)
		return code == VT_INVALID_STRING ? VT_INVALID_SAMPLE_FILE_NAME : code;
	code = tb5_utf8_open(ptr, path, access_mode);
	free(path);
	return code;
}

static TBRW_U32 check_all_done(const struct tb5_file *file)
{
	bool reading = false;

	for (size_t i = 0; i < TB5_GLOBAL_SECTIONS; i++) {
		if (file->sections[i].state == TB5_WRITING)
			return VT_GLOBAL_SECTION_NOT_CLOSED;
		reading |= file->sections[i].reading;
	}
	for (uint32_t n = 0; n < file->stream_count; n++) {
		const struct tb5_stream *stream = file->streams[n];

		for (size_t i = 0; i < TB5_STREAM_SECTIONS; i++) {
			if (stream->sections[i].state == TB5_WRITING)
				return VT_STREAM_SECTION_NOT_CLOSED;
			reading |= stream->sections[i].reading;
		}
		if (stream->whole.state == TB5_WRITING)
			return VT_STREAM_NOT_CLOSED;
		reading |= stream->whole.reading;
	}
	return reading ? VT_NOT_ALL_SECTIONS_CLOSED : VT_SUCCESS;
}

TBRW_U32 TBRW_close(TBRW_PTR ptr)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code == VT_SUCCESS)
		code = check_all_done(file);
	if (code == VT_SUCCESS && file->writable && file->failed)
		code = file->failed;
	if (code == VT_SUCCESS && file->writable && file->changed) {
		code = tb5_file_flush_all(file);
		if (code == VT_SUCCESS)
			code = tb5_file_wrote(file, tb5_catalog_write(file));
	}
	if (code == VT_SUCCESS)
		file_destroy(file);
	return code;
}

/* Whether the path still leads to the open file. */
static bool path_is_ours(const struct tb5_file *file)
{
	struct stat ours, there;

	return fstat(file->store.fd, &ours) == 0 && lstat(file->path, &there) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

TBRW_U32 TBRW_abort_cleanup_and_close(TBRW_PTR ptr)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code != VT_SUCCESS)
		return code;
	if (file->created) {
		if (file->store.end == file->opened_end && path_is_ours(file))
			unlink(file->path);
	} else if (file->writable && file->store.end > file->opened_end) {
		tb5_store_truncate(&file->store, file->opened_end);
	}
	file_destroy(file);
	return VT_SUCCESS;
}

static TBRW_U32 verify_stream(struct tb5_file *file, struct tb5_stream *stream)
{
	TBRW_U32 code = VT_SUCCESS;

	if (stream->dropped)
		return VT_SUCCESS;
	for (unsigned c = TB5_STREAM_FIRST; code == VT_SUCCESS && c < TB5_STREAM_END; c++)
		code = c == TB5_DATA ? tb5_seq_load(tb5_stream_seq(stream, c))
				     : tb5_seq_check(tb5_stream_seq(stream, c), &file->cache);
	return code;
}

static bool is_writing(const struct tb5_file *file)
{
	TBRW_U32 code = check_all_done(file);

	return code != VT_SUCCESS && code != VT_NOT_ALL_SECTIONS_CLOSED;
}

TBRW_U32 TBRW_verify(TBRW_PTR ptr)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_file_get(ptr, &file);

	if (code == VT_SUCCESS)
		code = tb5_seq_check(&file->strings.seq, &file->cache);
	for (unsigned c = TB5_GLOBAL_FIRST; code == VT_SUCCESS && c < TB5_GLOBAL_END; c++)
		code = tb5_seq_check(tb5_file_seq(file, c), &file->cache);
	for (uint32_t n = 0; code == VT_SUCCESS && n < file->stream_count; n++)
		code = verify_stream(file, file->streams[n]);
	if (code == VT_SUCCESS && file->failed)
		code = file->failed;
	if (code == VT_SUCCESS && (file->incomplete || is_writing(file)))
		code = VT_INCOMPLETE_TB5_ENCOUNTERED;
	return code;
}
