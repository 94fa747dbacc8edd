/* The places of a sequence's chunks in the file. A closed file has lists of them, read at the first
 * use of the sequence: opening costs the same for any length (FORMAT.md 1.4). */
#ifndef TBRW_EXTENTS_H
#define TBRW_EXTENTS_H

#include "tbrw/tbrw_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb5_list_record;
struct tb5_store;

/* A payload's place in a store. */
struct tb5_extent {
	uint64_t offset; /* of the payload */
	uint64_t start;  /* within the sequence */
	uint32_t length;
	uint32_t crc;
};

/* The place of a list of extents, each list continuing the one before. */
struct tb5_list {
	uint64_t offset; /* of the first record */
	uint64_t end;    /* of the last extent, within the sequence */
	uint32_t size;   /* in bytes */
	uint32_t crc;
};

struct tb5_extents {
	struct tb5_extent *array; /* in order, without gaps */
	size_t count;
	size_t capacity;
	size_t listed; /* of count: in the lists too */
	struct tb5_list *lists;
	size_t list_count;
	size_t list_capacity;
	bool unreadable; /* the lists, and the search for the chunks failed too */
	uint64_t end;    /* bytes of the sequence in the store */
};

void tb5_extents_finish(struct tb5_extents *extents);

/* Makes room for one more: adding it cannot fail once its chunk is written. */
TBRW_U32 tb5_extents_reserve(struct tb5_extents *extents);

/* VT_INVALID_SAMPLE_FILE for an extent that does not begin at the end. */
TBRW_U32 tb5_extents_add(struct tb5_extents *extents, const struct tb5_extent *extent);

/* Before any extent is added. VT_INVALID_SAMPLE_FILE if so many chunks cannot be so long. */
TBRW_U32 tb5_extents_add_list(struct tb5_extents *extents, const struct tb5_list *list);

/* Brings the lists' extents into the array, once; to be called before the array is read or added
 * to. A damaged list is replaced by a search of all chunks for those of content and stream.
 * VT_INVALID_SAMPLE_FILE. */
TBRW_U32 tb5_extents_load(struct tb5_extents *extents, struct tb5_store *store, uint16_t content,
			  uint32_t stream);

/* Fills `records` with a list of `count` extents from `first` on, and gives the place of the list:
 * its records are to stand at `offset` of the file. */
struct tb5_list tb5_extents_list(const struct tb5_extents *extents, size_t first, uint32_t count,
				 uint64_t offset, struct tb5_list_record *records);

/* The extent of the byte at `offset`, before the end. */
const struct tb5_extent *tb5_extents_find(const struct tb5_extents *extents, uint64_t offset);

#endif
