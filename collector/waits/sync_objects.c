#include "collector/waits/sync_waits.h"
#include <stdlib.h>

struct sync_object {
	struct hash_slot head;
	uint32_t pid;
	uint64_t address;
	uint32_t created;
	uint32_t wake_count;     /* all so far */
	struct sync_wake *wakes; /* the last SYNC_WAKES; NULL: none yet */
};

struct identity {
	uint64_t address;
	uint32_t pid;
};

void sync_objects_init(struct sync_objects *objects)
{
	*objects = (struct sync_objects){.key = hash_key_draw()};
}

static struct sync_object *object_at(const struct sync_objects *objects, size_t i)
{
	struct sync_object *object =
		(struct sync_object *)hash_table_at(&objects->table, sizeof(*object), i);
	return object->head.number != 0 ? object : NULL;
}

void sync_objects_finish(struct sync_objects *objects)
{
	for (size_t i = 0; i < objects->table.capacity; i++)
		if (object_at(objects, i))
			free(object_at(objects, i)->wakes);
	hash_table_finish(&objects->table);
}

static inline bool is_object(const void *slot, const void *key)
{
	const struct sync_object *object = slot;
	const struct identity *identity = key;
	return object->address == identity->address && object->pid == identity->pid;
}

static uint64_t hash_of(const struct sync_objects *objects, const struct identity *identity)
{
	/* Addresses of user code have no bits so high. */
	return hash_number(&objects->key, identity->address ^ (uint64_t)identity->pid << 42);
}

static struct sync_object *find(const struct sync_objects *objects, uint32_t pid, uint64_t address)
{
	struct identity identity = {address, pid};
	return hash_table_find(&objects->table, sizeof(struct sync_object),
			       hash_of(objects, &identity), is_object, &identity);
}

static struct sync_object *get(struct sync_objects *objects, uint32_t pid, uint64_t address)
{
	struct identity identity = {address, pid};
	struct sync_object *object = find(objects, pid, address);
	if (!object && objects->table.count < SYNC_OBJECTS_MAX)
		object = hash_table_add(&objects->table, sizeof(*object),
					hash_of(objects, &identity));
	if (!object) {
		objects->forgotten++;
		return NULL;
	}
	object->pid = pid;
	object->address = address;
	return object;
}

void sync_objects_make(struct sync_objects *objects, uint32_t pid, uint64_t address, uint32_t node)
{
	struct sync_object *object = get(objects, pid, address);
	if (!object)
		return;
	object->created = node;
	object->wake_count = 0;
}

uint32_t sync_objects_created(const struct sync_objects *objects, uint32_t pid, uint64_t address)
{
	const struct sync_object *object = find(objects, pid, address);
	return object ? object->created : 0;
}

void sync_objects_wake(struct sync_objects *objects, uint32_t pid, uint64_t address,
		       const struct sync_wake *wake)
{
	struct sync_object *object = get(objects, pid, address);
	if (!object)
		return;
	if (!object->wakes)
		object->wakes = calloc(SYNC_WAKES, sizeof(*object->wakes));
	if (object->wakes)
		object->wakes[object->wake_count++ % SYNC_WAKES] = *wake;
	else
		objects->forgotten++;
}

const struct sync_wake *sync_objects_match(struct sync_objects *objects, uint32_t pid,
					   uint64_t address, uint64_t begin_ns, uint64_t end_ns,
					   uint32_t tid, bool first)
{
	struct sync_object *object = find(objects, pid, address);
	struct sync_wake *found = NULL;
	uint32_t count = object && object->wakes ? object->wake_count : 0;
	for (uint32_t i = 0; i < count && i < SYNC_WAKES; i++) {
		struct sync_wake *wake = &object->wakes[i];
		if (wake->tid == tid || wake->begin_ns > end_ns || wake->end_ns < begin_ns ||
		    (first && wake->is_spent))
			continue;
		if (!found ||
		    (first ? wake->begin_ns < found->begin_ns : wake->begin_ns > found->begin_ns))
			found = wake;
	}
	if (found)
		found->is_spent = !found->wakes_all;
	return found;
}

void sync_objects_forget(struct sync_objects *objects, uint32_t pid)
{
	size_t i = 0;
	while (i < objects->table.capacity) {
		struct sync_object *object = object_at(objects, i);
		if (object && object->pid == pid) {
			free(object->wakes);
			hash_table_remove(&objects->table, sizeof(*object), object);
		} else {
			i++;
		}
	}
}
