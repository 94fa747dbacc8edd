/* The bytes of a tb5 file on disk: creating and opening it safely, reading ranges, appending whole
 * chunks. Knows chunk headers, not what chunks mean. */
#ifndef TBRW_STORE_H
#define TBRW_STORE_H

#include "tbrw/store/format.h"
#include "tbrw/tbrw_errors.h"
#include "tbrw/tbrw_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb5_store {
	int fd;       /* -1: not open */
	uint64_t end; /* where the next chunk goes; all before it is file header and whole chunks */
	uint64_t reserved; /* up to here the file system keeps room for us; 0: it was not asked */
	uint64_t room;  /* what may be taken yet: of the reserved bytes, or, where none can be, of
			 * what buffers may hold */
	uint64_t ahead; /* how much more to reserve than is needed */
	bool cannot_reserve;
	struct tb5_rescan *rescan; /* NULL: was not needed yet; the file frees it */
};

/* A new file of that name with a file header, locked against other writers. An existing file is
 * replaced if it is a regular file of the effective user that no one else is writing. */
TBRW_U32 tb5_store_create(struct tb5_store *store, const char *path);

/* An existing regular file with a right file header; store->end is its size. With `writable` also
 * locked, and not opened through a symbolic link. */
TBRW_U32 tb5_store_open(struct tb5_store *store, const char *path, bool writable);

/* A nameless file that vanishes when it is closed. It has no file header. */
TBRW_U32 tb5_store_open_temporary(struct tb5_store *store);

void tb5_store_close(struct tb5_store *store);

/* Exactly `size` bytes; VT_INVALID_SAMPLE_FILE if the file ends before. */
TBRW_U32 tb5_store_read(const struct tb5_store *store, uint64_t offset, void *buffer, size_t size);

/* Reads and checks the chunk header at `offset`. The payload lies before store->end; its CRC has
 * not been looked at. */
TBRW_U32 tb5_store_read_header(const struct tb5_store *store, uint64_t offset,
			       struct tb5_chunk_header *header);

/* Appends a chunk. The caller fills kind, content, stream, length and start, and gets the rest
 * filled in. *offset is where the chunk begins. On failure the file ends where it did before. */
TBRW_U32 tb5_store_append(struct tb5_store *store, struct tb5_chunk_header *header,
			  const void *payload, uint64_t *offset);

/* Has the file system keep room for `size` bytes behind the end, at least; store->room becomes what
 * it keeps beyond that. VT_NO_SPACE. Where it cannot do so, sets store->cannot_reserve. */
TBRW_U32 tb5_store_reserve(struct tb5_store *store, uint64_t size);

/* Gives back what the file system keeps. */
void tb5_store_give_back(struct tb5_store *store);

/* Waits until what was appended is on the disk, where the file system knows of that. */
TBRW_U32 tb5_store_sync(struct tb5_store *store);

/* Cuts the file off behind `end`, as far as possible, and gives back what was reserved. */
void tb5_store_truncate(struct tb5_store *store, uint64_t end);

#endif
