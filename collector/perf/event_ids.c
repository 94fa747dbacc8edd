#include "collector/perf/event_ids.h"

struct id_slot {
	struct hash_slot head;
	uint64_t id;
	struct event_id event;
};

void event_ids_init(struct event_ids *ids)
{
	*ids = (struct event_ids){.lock = PTHREAD_MUTEX_INITIALIZER, .key = hash_key_draw()};
}

void event_ids_finish(struct event_ids *ids)
{
	hash_table_finish(&ids->table);
}

static inline bool is_id(const void *slot, const void *key)
{
	return ((const struct id_slot *)slot)->id == *(const uint64_t *)key;
}

bool event_ids_add(struct event_ids *ids, uint64_t id, const struct event_id *event)
{
	pthread_mutex_lock(&ids->lock);
	struct id_slot *slot =
		hash_table_add(&ids->table, sizeof(*slot), hash_number(&ids->key, id));
	if (slot) {
		slot->id = id;
		slot->event = *event;
	}
	pthread_mutex_unlock(&ids->lock);
	return slot != NULL;
}

bool event_ids_find(struct event_ids *ids, uint64_t id, struct event_id *event)
{
	pthread_mutex_lock(&ids->lock);
	const struct id_slot *slot =
		hash_table_find(&ids->table, sizeof(*slot), hash_number(&ids->key, id), is_id, &id);
	if (slot)
		*event = slot->event;
	pthread_mutex_unlock(&ids->lock);
	return slot != NULL;
}
