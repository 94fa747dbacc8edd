#include "collector/model/idmap.h"

#include <assert.h>

struct slot {
	struct hash_slot head;
	uint32_t id;
	void *value;
};

static uint32_t hash_id(uint32_t id)
{
	return id * 2654435769u;
}

static inline bool has_id(const void *slot, const void *id)
{
	return ((const struct slot *)slot)->id == *(const uint32_t *)id;
}

static struct slot *find_slot(const struct hash_table *map, uint32_t id)
{
	return hash_table_find(map, sizeof(struct slot), hash_id(id), has_id, &id);
}

void *idmap_get(const struct hash_table *map, uint32_t id)
{
	const struct slot *slot = find_slot(map, id);
	return slot ? slot->value : NULL;
}

bool idmap_put(struct hash_table *map, uint32_t id, void *value)
{
	assert(value); /* NULL is no id's */
	struct slot *slot = find_slot(map, id);
	if (!slot)
		slot = hash_table_add(map, sizeof(*slot), hash_id(id));
	if (!slot)
		return false;
	slot->id = id;
	slot->value = value;
	return true;
}

void *idmap_remove(struct hash_table *map, uint32_t id)
{
	struct slot *slot = find_slot(map, id);
	if (!slot)
		return NULL;
	void *value = slot->value;
	hash_table_remove(map, sizeof(*slot), slot);
	return value;
}

void *idmap_next(const struct hash_table *map, size_t *position)
{
	while (*position < map->capacity) {
		const struct slot *slot =
			(const void *)hash_table_at(map, sizeof(*slot), (*position)++);
		if (slot->head.number != 0)
			return slot->value;
	}
	return NULL;
}
