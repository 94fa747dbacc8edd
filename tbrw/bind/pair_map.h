/* A map from pairs of numbers to numbers. */
#ifndef TBRW_PAIR_MAP_H
#define TBRW_PAIR_MAP_H

#include "containers/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_map {
	struct pair_map_entry {
		uint64_t first;
		uint64_t second;
		uint64_t value;
		bool used;
	} * entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	struct hash_key key;
};

void tb5_pair_map_finish(struct pair_map *map);

/* The value for a pair, which is entered with `initial` if it is new. NULL: no memory. The pointer
 * is valid until the next call. */
uint64_t *tb5_pair_map_get(struct pair_map *map, uint64_t first, uint64_t second, uint64_t initial);

#endif
