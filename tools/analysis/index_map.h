/*
 * Finds the index of an element that the caller keeps in an array of its own: interning.
 */
#ifndef TOOLS_ANALYSIS_INDEX_MAP_H
#define TOOLS_ANALYSIS_INDEX_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_map { /* all zero: empty */
	struct index_map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* True if the element at index is the one that key describes. */
typedef bool index_map_equal(const void *user, uint32_t index, const void *key);

void index_map_finish(struct index_map *map);

/* The index of the element with the key. If there is none yet, it becomes next_index, and *added
 * is true: the caller then stores the element there. */
uint32_t index_map_intern(struct index_map *map, const void *key, uint64_t hash,
			  index_map_equal *equal, const void *user, uint32_t next_index,
			  bool *added);

uint64_t index_map_hash(const void *bytes, size_t size);
uint64_t index_map_hash_text(const char *text);

#endif
