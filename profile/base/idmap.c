#include "profile/base/idmap.h"

#include <assert.h>

struct slot {
	struct hash_slot head;
	uint32_t value;
	uint64_t key;
};

static bool is_key(const void *slot, const void *key)
{
	const struct slot *known = slot;
	const uint64_t *wanted = key;

	return known->key == *wanted;
}

static struct slot *find_slot(const struct profile_idmap *map, uint64_t key)
{
	return hash_table_find(&map->table, sizeof(struct slot), hash_number(&map->key, key),
			       is_key, &key);
}

void profile_idmap_finish(struct profile_idmap *map)
{
	hash_table_finish(&map->table);
}

uint32_t profile_idmap_get(const struct profile_idmap *map, uint64_t key)
{
	const struct slot *slot = find_slot(map, key);

	return slot ? slot->value : PROFILE_IDMAP_NONE;
}

bool profile_idmap_put(struct profile_idmap *map, uint64_t key, uint32_t value)
{
	assert(value != PROFILE_IDMAP_NONE);
	if (!map->table.capacity)
		map->key = hash_key_draw();
	struct slot *slot = find_slot(map, key);
	if (!slot)
		slot = hash_table_add(&map->table, sizeof(*slot), hash_number(&map->key, key));
	if (!slot)
		return false;
	slot->key = key;
	slot->value = value;
	return true;
}
