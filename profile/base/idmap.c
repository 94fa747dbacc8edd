#include "profile/base/idmap.h"

#include <stdlib.h>

struct profile_idmap_slot {
	uint64_t key;
	uint32_t value; /* PROFILE_IDMAP_NONE: free */
};

/* Finalizer of the splitmix64 generator. The keys come from files, so the address of the slots,
 * which a file's author cannot know, goes in: keys that collide on purpose collide no more. */
static uint32_t slot_of(const struct profile_idmap *map, uint64_t key)
{
	uint64_t h = key ^ (uint64_t)(uintptr_t)map->slots;

	h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
	h = (h ^ h >> 27) * 0x94D049BB133111EBu;
	return (uint32_t)(h ^ h >> 31) & (map->capacity - 1);
}

static struct profile_idmap_slot *find_slot(const struct profile_idmap *map, uint64_t key)
{
	uint32_t at = slot_of(map, key);

	while (map->slots[at].value != PROFILE_IDMAP_NONE && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static bool grow(struct profile_idmap *map)
{
	uint32_t capacity = map->capacity ? map->capacity * 2 : 64;

	if (capacity < map->capacity)
		return false;
	struct profile_idmap bigger = {.capacity = capacity, .count = map->count};
	bigger.slots = reallocarray(NULL, capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (uint32_t i = 0; i < capacity; i++)
		bigger.slots[i].value = PROFILE_IDMAP_NONE;
	for (uint32_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value != PROFILE_IDMAP_NONE)
			*find_slot(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return true;
}

void profile_idmap_finish(struct profile_idmap *map)
{
	free(map->slots);
	*map = (struct profile_idmap){0};
}

uint32_t profile_idmap_get(const struct profile_idmap *map, uint64_t key)
{
	return map->capacity ? find_slot(map, key)->value : PROFILE_IDMAP_NONE;
}

bool profile_idmap_put(struct profile_idmap *map, uint64_t key, uint32_t value)
{
	/* At most three quarters full: probes stay short and a free slot always exists. */
	if (map->count >= map->capacity / 4 * 3 && !grow(map))
		return false;
	struct profile_idmap_slot *slot = find_slot(map, key);
	if (slot->value == PROFILE_IDMAP_NONE)
		map->count++;
	*slot = (struct profile_idmap_slot){.key = key, .value = value};
	return true;
}
