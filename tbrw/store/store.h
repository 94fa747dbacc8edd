/* The bytes of a tb5 file on disk: safe creation and opening, reads of ranges, appends of whole
 * chunks. Knows chunk headers, not the meaning of chunks. */
#ifndef TBRW_STORE_H
#define TBRW_STORE_H

#include "tbrw/store/format.h"
#include "tbrw/tbrw_errors.h"
#include "tbrw/tbrw_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb5_store {
	int fd;            /* -1: not open */
	uint64_t end;      /* place of the next chunk, behind the file header and whole chunks */
	uint64_t reserved; /* up to here the file system keeps room for us; 0: never asked */
	uint64_t room;     /* bytes still free: of the reserved ones, or, where none can be, of the
			    * buffers' limit */
	uint64_t ahead;    /* bytes to reserve beyond the need */
	bool cannot_reserve;
	struct tb5_found *found; /* all chunks of kind 1 (rescan.h); NULL: no search was needed yet
				  */
	size_t found_count;
};

/* A new file at path with a file header, locked against other writers. An existing regular file of
 * the effective user is replaced unless somebody else is writing it. */
TBRW_U32 tb5_store_create(struct tb5_store *store, const char *path);

/* An existing regular file with a right file header; store->end is its size. With `writable` also
 * locked, and not opened through a symbolic link. */
TBRW_U32 tb5_store_open(struct tb5_store *store, const char *path, bool writable);

/* A nameless file without a file header; vanishes when closed. */
TBRW_U32 tb5_store_open_temporary(struct tb5_store *store);

void tb5_store_close(struct tb5_store *store);

/* Exactly `size` bytes; VT_INVALID_SAMPLE_FILE if the file ends before. */
TBRW_U32 tb5_store_read(const struct tb5_store *store, uint64_t offset, void *buffer, size_t size);

/* Reads and checks the chunk header at `offset`. The payload lies before store->end; its CRC has
 * not been looked at. */
TBRW_U32 tb5_store_read_header(const struct tb5_store *store, uint64_t offset,
			       struct tb5_chunk_header *header);

/* Reads the payload of the chunk at `offset`, whose header is read already: header->length bytes.
 * VT_INVALID_SAMPLE_FILE if its CRC is wrong. */
TBRW_U32 tb5_store_read_payload(const struct tb5_store *store, uint64_t offset,
				const struct tb5_chunk_header *header, void *payload);

/* Appends a chunk. The caller fills kind, content, stream, length and start; the call fills in the
 * rest. *offset is the chunk's place. On failure the file keeps its end. */
TBRW_U32 tb5_store_append(struct tb5_store *store, struct tb5_chunk_header *header,
			  const void *payload, uint64_t *offset);

/* Has the file system keep room for `size` bytes behind the end, at least; store->room becomes the
 * rest. VT_NO_SPACE. If the file system cannot keep room, sets store->cannot_reserve. */
TBRW_U32 tb5_store_reserve(struct tb5_store *store, uint64_t size);

/* Gives the reserved room back. */
void tb5_store_give_back(struct tb5_store *store);

/* Waits until all appended chunks are on the disk, if the file system knows of that. */
TBRW_U32 tb5_store_sync(struct tb5_store *store);

/* Cuts the file off behind `end`, as far as possible, and gives the reserved room back. */
void tb5_store_truncate(struct tb5_store *store, uint64_t end);

#endif
