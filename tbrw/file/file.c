#include "tbrw/file/file.h"

#include "tbrw/file/catalog.h"
#include "tbrw/utf8.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most bytes in the buffers of all sequences where no room can be reserved: a full disk costs
 * no more. */
#define UNRESERVED_SIZE (64u << 10)

TBRW_U32 tb5_file_get(TBRW_PTR ptr, struct tb5_file **file)
{
	struct tb5_file *f = ptr;

	if (!f)
		return VT_UNEXPECTED_NULL_PTR;
	if (f->magic != TB5_FILE_HANDLE)
		return VT_BAD_PARAMETER;
	*file = f;
	return VT_SUCCESS;
}

/* ---- Streams ---- */

static void stream_destroy(struct tb5_stream *stream)
{
	for (size_t i = 0; i < TB5_STREAM_END - TB5_STREAM_FIRST; i++)
		tb5_seq_finish(&stream->seqs[i]);
	free(stream);
}

TBRW_U32 tb5_file_add_stream(struct tb5_file *file, struct tb5_store *store,
			     struct tb5_stream **stream)
{
	uint32_t number = file->stream_count;
	struct tb5_stream *s;

	if (number >= TB5_STREAMS_MAX)
		return VT_INVALID_STREAM;
	if (!array_reserve(&file->streams, &file->stream_capacity, (size_t)number + 1,
			   sizeof(void *)))
		return VT_NO_MEMORY;
	s = calloc(1, sizeof(*s));
	if (!s)
		return VT_NO_MEMORY;
	s->whole.state = TB5_WRITING;
	for (unsigned c = TB5_STREAM_FIRST; c < TB5_STREAM_END; c++)
		tb5_seq_init(tb5_stream_seq(s, c), (uint16_t)c, number, store);
	file->streams[file->stream_count++] = s;
	file->bind_known = false;
	*stream = s;
	return VT_SUCCESS;
}

void tb5_file_remove_streams(struct tb5_file *file, uint32_t count)
{
	assert(count <= file->stream_count);
	while (file->stream_count > count)
		stream_destroy(file->streams[--file->stream_count]);
	file->bind_known = false;
}

TBRW_U32 tb5_file_stream(struct tb5_file *file, uint32_t number, struct tb5_stream **stream)
{
	if (number >= file->stream_count || file->streams[number]->dropped)
		return VT_STREAM_NOT_EXIST;
	*stream = file->streams[number];
	return VT_SUCCESS;
}

/* ---- Writing ---- */

TBRW_U32 tb5_file_wrote(struct tb5_file *file, TBRW_U32 code)
{
	if (code == VT_NO_SPACE || code == VT_WRITE_ERROR)
		file->failed = code;
	return code;
}

static TBRW_U32 flush_one(struct tb5_file *file, struct tb5_seq *seq, bool all)
{
	file->changed = true;
	return tb5_file_wrote(file, tb5_seq_flush(seq, all));
}

/* Stores the sequences that must be in the file before this one's records. */
static TBRW_U32 flush_before(struct tb5_file *file, const struct tb5_seq *seq)
{
	TBRW_U32 code = VT_SUCCESS;

	/* Entries of data name no strings given out by TBRW while the data was written. */
	if (file->strings.seq.buffered && seq->content != TB5_DATA && seq->content != TB5_STRINGS)
		code = flush_one(file, &file->strings.seq, true);
	assert(seq->content < TB5_STREAM_FIRST || seq->stream < file->stream_count);
	if (code == VT_SUCCESS && seq->content == TB5_EVENTS)
		code = flush_one(file,
				 tb5_stream_seq(file->streams[seq->stream], TB5_EVENT_DETAILS),
				 true);
	return code;
}

TBRW_U32 tb5_file_flush(struct tb5_file *file, struct tb5_seq *seq, bool all)
{
	if (file->failed)
		return file->failed;
	if (!seq->buffered)
		return VT_SUCCESS;
	TBRW_U32 code = flush_before(file, seq);
	return code == VT_SUCCESS ? flush_one(file, seq, all) : code;
}

TBRW_U32 tb5_file_flush_all(struct tb5_file *file)
{
	TBRW_U32 code = tb5_file_flush(file, &file->strings.seq, true);

	for (unsigned c = TB5_GLOBAL_FIRST; code == VT_SUCCESS && c < TB5_GLOBAL_END; c++)
		code = tb5_file_flush(file, tb5_file_seq(file, c), false);
	for (uint32_t n = 0; code == VT_SUCCESS && n < file->stream_count; n++) {
		if (file->streams[n]->whole.state != TB5_WRITING)
			continue;
		for (unsigned c = TB5_STREAM_FIRST; code == VT_SUCCESS && c < TB5_STREAM_END; c++)
			code = tb5_file_flush(file, tb5_stream_seq(file->streams[n], c), false);
	}
	return code;
}

TBRW_U32 tb5_file_begin_write(struct tb5_file *file)
{
	struct timespec now;

	if (!file->writable)
		return VT_INVALID_ACCESS_PERMS;
	if (file->failed)
		return file->failed;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec - file->flushed_at < 1 ||
	    (now.tv_sec - file->flushed_at == 1 && now.tv_nsec < file->flushed_at_ns))
		return VT_SUCCESS;
	file->flushed_at = now.tv_sec;
	file->flushed_at_ns = now.tv_nsec;
	return tb5_file_flush_all(file);
}

/* A failed append leaves a part behind, in this sequence or in a related one: as after a write
 * error, the file takes nothing more. */
static TBRW_U32 append_failed(struct tb5_file *file, TBRW_U32 code)
{
	file->failed = code;
	return code;
}

/* The future space of all buffers in the file. */
static uint64_t space_of_buffers(struct tb5_file *file)
{
	uint64_t space = tb5_seq_space(&file->strings.seq);

	for (unsigned c = TB5_GLOBAL_FIRST; c < TB5_GLOBAL_END; c++)
		space += tb5_seq_space(tb5_file_seq(file, c));
	for (uint32_t n = 0; n < file->stream_count; n++)
		for (unsigned c = TB5_STREAM_FIRST; c < TB5_STREAM_END; c++)
			space += tb5_seq_space(tb5_stream_seq(file->streams[n], c));
	return space;
}

TBRW_U32 tb5_file_reserve(struct tb5_file *file, size_t size)
{
	struct tb5_store *store = &file->store;

	if (size <= store->room)
		return VT_SUCCESS;
	TBRW_U32 code = tb5_store_reserve(store, space_of_buffers(file) + size);
	if (code == VT_SUCCESS && store->cannot_reserve) {
		code = tb5_file_flush_all(file);
		store->room = UNRESERVED_SIZE;
	}
	if (code == VT_SUCCESS)
		store->room += size;
	return code;
}

/* Takes the room for `size` bytes more and the headers of their chunks. No bytes are accepted
 * without room: on a full disk all bytes accepted before are stored. The file then holds everything
 * up to one moment, instead of each sequence up to its last full buffer. */
static TBRW_U32 take_room(struct tb5_file *file, struct tb5_seq *seq, size_t size)
{
	/* The most chunks for these bytes, each with a header and padding. */
	uint64_t chunks = size / TB5_BUFFER_SIZE + 2;
	uint64_t more = size + chunks * tb5_chunk_space(8);
	TBRW_U32 code = tb5_file_reserve(file, more);

	if (code == VT_SUCCESS) {
		assert(file->store.room >= more);
		file->store.room -= more;
		return VT_SUCCESS;
	}
	/* A part of a tree is no tree. */
	if (seq && seq->content == TB5_HARDWARE)
		seq->buffered = 0;
	tb5_file_flush_all(file);
	return tb5_file_wrote(file, code);
}

TBRW_U32 tb5_file_append(struct tb5_file *file, struct tb5_seq *seq, const void *data, size_t size)
{
	const char *p = data;
	TBRW_U32 code = VT_SUCCESS;

	if (seq->store == &file->store)
		code = take_room(file, seq, size);
	if (code != VT_SUCCESS)
		return append_failed(file, code);
	while (size) {
		size_t taken;

		code = tb5_seq_buffer(seq, p, size, &taken);
		if (code != VT_SUCCESS)
			return append_failed(file, code);
		p += taken;
		size -= taken;
		if (size) {
			code = tb5_file_flush(file, seq, false);
			if (code != VT_SUCCESS)
				return append_failed(file, code);
		}
	}
	return VT_SUCCESS;
}

TBRW_U32 tb5_file_mark(struct tb5_file *file, struct tb5_store *store, enum tb5_kind kind,
		       unsigned content, uint32_t stream)
{
	struct tb5_chunk_header header = {.kind = (uint16_t)kind,
					  .content = (uint16_t)content,
					  .stream = stream};
	uint64_t offset;
	TBRW_U32 code = file->failed;

	if (code == VT_SUCCESS && store == &file->store)
		code = take_room(file, NULL, 0);
	if (code != VT_SUCCESS)
		return code;
	file->changed = true;
	return tb5_file_wrote(file, tb5_store_append(store, &header, NULL, &offset));
}

TBRW_U32 tb5_file_intern(struct tb5_file *file, TBRW_STRING_OR_ID given, TBRW_STRING_OR_ID *id)
{
	size_t added;
	uint64_t unique;
	char *utf8;

	if (given.soi_uniqueid & TB5_STRING_ID_BIT)
		return VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES;
	if (!given.soi_ptr) {
		id->soi_uniqueid = 0;
		return VT_SUCCESS;
	}
	if (tb5_strings_recall(&file->strings, given.soi_ptr, &unique)) {
		id->soi_uniqueid = unique;
		return VT_SUCCESS;
	}
	TBRW_U32 code = tb5_utf8_dup_wide(given.soi_ptr, &utf8);
	if (code != VT_SUCCESS)
		return code;
	code = tb5_strings_intern(&file->strings, &file->cache, utf8, strlen(utf8), &unique,
				  &added);
	free(utf8);
	if (code == VT_SUCCESS && added)
		code = tb5_file_append(file, &file->strings.seq,
				       file->strings.set.bytes + file->strings.set.size - added,
				       added);
	if (code != VT_SUCCESS)
		return code;
	tb5_strings_remember(&file->strings, given.soi_ptr, unique);
	id->soi_uniqueid = unique;
	return VT_SUCCESS;
}

uint64_t tb5_processes_written(struct tb5_file *file)
{
	return tb5_seq_size(tb5_file_seq(file, TB5_PROCESSES)) / sizeof(TBRW_PID);
}

uint64_t tb5_threads_written(struct tb5_file *file)
{
	return tb5_seq_size(tb5_file_seq(file, TB5_THREADS)) / sizeof(TBRW_TID);
}
