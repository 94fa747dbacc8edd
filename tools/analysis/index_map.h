/*
 * Arrays of distinct items: an item is found by what it says (containers/hash_table.h), or else
 * appended.
 */
#ifndef TOOLS_ANALYSIS_INDEX_MAP_H
#define TOOLS_ANALYSIS_INDEX_MAP_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_map { /* all zero: of an empty array, whose pointer is NULL */
	struct hash_table table;
	struct hash_key key;
	size_t capacity; /* of the array */
};

/* Whether an item of the array is the one that is wanted. */
typedef bool index_map_equal(const void *item, const void *wanted);

void index_map_finish(struct index_map *map);

/* How many items the array has. */
static inline uint32_t index_map_count(const struct index_map *map)
{
	return map->table.count;
}

/* The index of the item that equals `wanted`, of `size` bytes, in the array whose first item the
 * pointer at `items` points to. If there is none, it is appended. Without memory the program ends
 * (tools/cli/xalloc.h). The array is the caller's to free. */
uint32_t index_map_enter(struct index_map *map, void *items, const void *wanted, size_t size,
			 uint64_t hash, index_map_equal *equal);

/* Hashes of this map alone: who chooses names cannot choose which meet. */
uint64_t index_map_hash(struct index_map *map, const void *bytes, size_t size);
uint64_t index_map_hash_text(struct index_map *map, const char *text);

#endif
