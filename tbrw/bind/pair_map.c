#include "tbrw/bind/pair_map.h"

#include <stdlib.h>

void tb5_pair_map_finish(struct pair_map *map)
{
	free(map->entries);
	*map = (struct pair_map){0};
}

static struct pair_map_entry *pair_map_slot(const struct pair_map *map, uint64_t first,
					    uint64_t second)
{
	const uint64_t pair[] = {first, second};
	uint64_t hash = hash_bytes(&map->key, pair, sizeof(pair));
	size_t mask = map->capacity - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct pair_map_entry *e = &map->entries[i];

		if (!e->used || (e->first == first && e->second == second))
			return e;
	}
}

/* At most half full. */
static bool pair_map_reserve(struct pair_map *map)
{
	struct pair_map grown = {.capacity = map->capacity ? map->capacity * 2 : 64,
				 .count = map->count,
				 .key = map->capacity ? map->key : hash_key_draw()};

	if (map->count < map->capacity / 2)
		return true;
	grown.entries = calloc(grown.capacity, sizeof(*grown.entries));
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < map->capacity; i++) {
		const struct pair_map_entry *e = &map->entries[i];

		if (e->used)
			*pair_map_slot(&grown, e->first, e->second) = *e;
	}
	free(map->entries);
	*map = grown;
	return true;
}

uint64_t *tb5_pair_map_get(struct pair_map *map, uint64_t first, uint64_t second, uint64_t initial)
{
	if (!pair_map_reserve(map))
		return NULL;
	struct pair_map_entry *e = pair_map_slot(map, first, second);
	if (!e->used) {
		*e = (struct pair_map_entry){first, second, initial, true};
		map->count++;
	}
	return &e->value;
}
