/*
 * Arrays of distinct items: an item is found by its content (containers/hash_table.h), or else
 * appended. Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_MEMORY_INDEX_MAP_H
#define TOOLS_MEMORY_INDEX_MAP_H

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

/* Whether an item of the array equals the wanted one. */
typedef bool index_map_equal(const void *item, const void *wanted);

void index_map_finish(struct index_map *map);

/* How many items the array has. */
static inline uint32_t index_map_count(const struct index_map *map)
{
	return map->table.count;
}

/* The index of the item equal to `wanted`, of `size` bytes; a new item is appended. `items` points
 * to the pointer to the array's first item. The caller frees the array. */
uint32_t index_map_enter(struct index_map *map, void *items, const void *wanted, size_t size,
			 uint64_t hash, index_map_equal *equal);

/* Hashes of this map alone: an author of names cannot choose collisions. */
uint64_t index_map_hash(struct index_map *map, const void *bytes, size_t size);
uint64_t index_map_hash_text(struct index_map *map, const char *text);

/* Distinct texts, each kept once as a copy. */
struct index_texts { /* all zero: empty */
	char **texts;
	struct index_map map;
};

void index_texts_finish(struct index_texts *table);

static inline uint32_t index_texts_count(const struct index_texts *table)
{
	return index_map_count(&table->map);
}

/* The text's number, the count before for a new one; NULL is "". */
uint32_t index_texts_enter(struct index_texts *table, const char *text);

#endif
