#include "collector/model/idmap.h"

#include <stdlib.h>

enum { INITIAL_CAPACITY = 64 };

static size_t home_of(const struct idmap *map, uint32_t id)
{
	return (id * 2654435769u) & (map->capacity - 1);
}

/* The slot of id, or the free slot where it would go. The map is never full. */
static size_t find_slot(const struct idmap *map, uint32_t id)
{
	size_t i = home_of(map, id);
	while (map->slots[i].value && map->slots[i].id != id)
		i = (i + 1) & (map->capacity - 1);
	return i;
}

static int grow(struct idmap *map)
{
	struct idmap larger = {.capacity = map->capacity ? map->capacity * 2 : INITIAL_CAPACITY};
	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value)
			larger.slots[find_slot(&larger, map->slots[i].id)] = map->slots[i];
	larger.count = map->count;
	free(map->slots);
	*map = larger;
	return 0;
}

void idmap_finish(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){0};
}

void *idmap_get(const struct idmap *map, uint32_t id)
{
	return map->count == 0 ? NULL : map->slots[find_slot(map, id)].value;
}

int idmap_put(struct idmap *map, uint32_t id, void *value)
{
	if (map->count * 4 >= map->capacity * 3 && grow(map) < 0)
		return -1;
	size_t i = find_slot(map, id);
	if (!map->slots[i].value)
		map->count++;
	map->slots[i] = (struct idmap_slot){value, id};
	return 0;
}

/* Entries after a hole move back so that probing still finds them (no tombstones). */
static void close_hole(struct idmap *map, size_t hole)
{
	size_t mask = map->capacity - 1;
	for (size_t i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		size_t home = home_of(map, map->slots[i].id);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = (struct idmap_slot){0};
}

void *idmap_remove(struct idmap *map, uint32_t id)
{
	if (map->count == 0)
		return NULL;
	size_t i = find_slot(map, id);
	void *value = map->slots[i].value;
	if (!value)
		return NULL;
	close_hole(map, i);
	map->count--;
	return value;
}

void *idmap_next(const struct idmap *map, size_t *position)
{
	while (*position < map->capacity) {
		void *value = map->slots[(*position)++].value;
		if (value)
			return value;
	}
	return NULL;
}
