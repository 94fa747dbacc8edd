#include "tools/analysis/index_map.h"

#include "tools/cli/xalloc.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct index_map_slot {
	uint64_t hash;
	uint32_t index;
	uint32_t is_used;
};

void index_map_finish(struct index_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

static void grow(struct index_map *map)
{
	struct index_map old = *map;
	map->capacity = old.capacity ? old.capacity * 2 : 64;
	map->slots = xalloc_zeroed(map->capacity, sizeof(*map->slots));
	for (size_t i = 0; i < old.capacity; i++) {
		if (!old.slots[i].is_used)
			continue;
		size_t at = old.slots[i].hash & (map->capacity - 1);
		while (map->slots[at].is_used)
			at = (at + 1) & (map->capacity - 1);
		map->slots[at] = old.slots[i];
	}
	free(old.slots);
}

uint32_t index_map_intern(struct index_map *map, const void *key, uint64_t hash,
			  index_map_equal *equal, const void *user, uint32_t next_index,
			  bool *added)
{
	if (map->count + map->count / 2 >= map->capacity)
		grow(map);
	size_t at = hash & (map->capacity - 1);
	for (; map->slots[at].is_used; at = (at + 1) & (map->capacity - 1)) {
		if (map->slots[at].hash == hash && equal(user, map->slots[at].index, key)) {
			*added = false;
			return map->slots[at].index;
		}
	}
	map->slots[at] = (struct index_map_slot){hash, next_index, 1};
	map->count++;
	*added = true;
	return next_index;
}

uint64_t index_map_hash(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}

uint64_t index_map_hash_text(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}
