/* An open tb5 file: the state of its sections and streams, and the steps common to all of the API.
 * The API's functions are in files named after the section they serve. */
#ifndef TBRW_FILE_H
#define TBRW_FILE_H

#include "tbrw/file/strings.h"
#include "tbrw/store/seq.h"
#include "tbrw/tbrw.h"
#include <assert.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define TB5_GLOBAL_SECTIONS 6
#define TB5_STREAM_SECTIONS 5
#define TB5_STREAMS_MAX     65536u
#define TB5_ENTRY_SIZE_MAX  (1u << 20)

struct tb5_section {
	enum {
		TB5_ABSENT,
		TB5_WRITING,
		TB5_DONE,
		TB5_PARTIAL /* of an incomplete file: has data, was never done */
	} state;
	bool reading;
};

struct tb5_stream {
	struct tb5_section whole; /* the stream's own state; reading: by TBRW_reading_stream */
	bool dropped;
	struct tb5_section sections[TB5_STREAM_SECTIONS];
	struct tb5_seq seqs[TB5_STREAM_END - TB5_STREAM_FIRST];
};

/* The four streams written by bind. */
struct tb5_bind_set {
	struct tb5_stream *data;
	struct tb5_stream *module;
	struct tb5_stream *pid;
	struct tb5_stream *tid;
};

struct tb5_file {
	uint32_t magic; /* TB5_FILE_HANDLE */
	bool writable;
	bool created;    /* by this handle, rather than found */
	bool incomplete; /* found without an end chunk */
	bool changed;    /* has chunks unknown to the index */
	TBRW_U32 failed; /* the error in storing; after one, nothing more is stored */
	char *path;
	struct tb5_store store;
	struct tb5_store temporary; /* for bind results of a read-only file; opened if needed */
	uint64_t opened_end;        /* store.end when the file was opened */
	time_t flushed_at;          /* CLOCK_MONOTONIC_COARSE */
	long flushed_at_ns;
	struct tb5_section sections[TB5_GLOBAL_SECTIONS];
	struct tb5_strings strings;
	struct tb5_seq seqs[TB5_GLOBAL_END - TB5_GLOBAL_FIRST];
	struct tb5_stream **streams;
	uint32_t stream_count;
	size_t stream_capacity;
	struct tb5_cache cache;
	bool bind_known; /* whether the next two are up to date */
	bool bound;
	struct tb5_bind_set bind;
	TBRW_PID one_pid; /* the targets of the get_one_ functions */
	TBRW_TID one_tid;
	TBRW_MODULE one_module;
};

/* The magic of an open file: other pointers are refused. */
#define TB5_FILE_HANDLE 0x35627466u

/* The file behind a handle; VT_UNEXPECTED_NULL_PTR, VT_BAD_PARAMETER. */
TBRW_U32 tb5_file_get(TBRW_PTR ptr, struct tb5_file **file);

static inline struct tb5_seq *tb5_file_seq(struct tb5_file *file, unsigned content)
{
	assert(content >= TB5_GLOBAL_FIRST && content < TB5_GLOBAL_END);
	return &file->seqs[content - TB5_GLOBAL_FIRST];
}

static inline struct tb5_seq *tb5_stream_seq(struct tb5_stream *stream, unsigned content)
{
	assert(content >= TB5_STREAM_FIRST && content < TB5_STREAM_END);
	return &stream->seqs[content - TB5_STREAM_FIRST];
}

/* A new stream with the next number, open for writing; writes no chunk for the opening. */
TBRW_U32 tb5_file_add_stream(struct tb5_file *file, struct tb5_store *store,
			     struct tb5_stream **stream);
/* Forgets streams from number `count` on. */
void tb5_file_remove_streams(struct tb5_file *file, uint32_t count);

/* An existing stream, else VT_STREAM_NOT_EXIST. */
TBRW_U32 tb5_file_stream(struct tb5_file *file, uint32_t number, struct tb5_stream **stream);

/* Number of written process and thread records; bind deduces others besides. */
uint64_t tb5_processes_written(struct tb5_file *file);
uint64_t tb5_threads_written(struct tb5_file *file);

/* ---- Writing ---- */

/* Every writing function calls this first: VT_INVALID_ACCESS_PERMS, or an earlier write's error.
 * Flushes everything if the last flush is more than a second ago. */
TBRW_U32 tb5_file_begin_write(struct tb5_file *file);

/* Notes a write error and returns it: from here on this file takes nothing more. */
TBRW_U32 tb5_file_wrote(struct tb5_file *file, TBRW_U32 code);

/* Has room kept for `size` bytes: appending them, with 80 more each time, then does not fail for
 * want of room. VT_NO_SPACE, and writing may continue. A file system that cannot keep room has the
 * buffers stored instead: errors of writing. */
TBRW_U32 tb5_file_reserve(struct tb5_file *file, size_t size);

/* Appends to a sequence, flushing as its buffer fills. Bytes that find no room are refused; all
 * bytes accepted before are stored first. */
TBRW_U32 tb5_file_append(struct tb5_file *file, struct tb5_seq *seq, const void *data, size_t size);

/* Stores a sequence's buffer, and before it all that its records refer to. */
TBRW_U32 tb5_file_flush(struct tb5_file *file, struct tb5_seq *seq, bool all);
TBRW_U32 tb5_file_flush_all(struct tb5_file *file);

/* Stores a chunk without payload. */
TBRW_U32 tb5_file_mark(struct tb5_file *file, struct tb5_store *store, enum tb5_kind kind,
		       unsigned content, uint32_t stream);

/* Turns a caller's string into an id, NULL into 0. VT_INVALID_STRING,
 * VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES. */
TBRW_U32 tb5_file_intern(struct tb5_file *file, TBRW_STRING_OR_ID given, TBRW_STRING_OR_ID *id);

#endif
