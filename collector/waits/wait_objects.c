#include "collector/waits/wait_objects.h"

#include "collector/context/stacks.h"
#include "collector/model/tracker_sampled.h"
#include "collector/result/emit.h"
#include <string.h>

/* What makes an object another one. No padding: the bytes are hashed. */
struct identity {
	uint64_t life; /* start of the process's */
	uint64_t address;
	uint64_t name; /* its hash; 0: none */
	uint32_t pid;
	uint32_t kind;
	uint32_t number;
	uint32_t type;
	uint32_t created;
	uint32_t zero;
};

_Static_assert(sizeof(struct identity) == 48, "no holes");

struct object_slot {
	struct hash_slot head;
	struct identity identity;
	uint32_t index;
};

void wait_objects_init(struct wait_objects *objects, struct stacks *stacks, struct emit *emit)
{
	*objects = (struct wait_objects){.emit = emit,
					 .stacks = stacks,
					 .key = hash_key_draw(),
					 .most = WAIT_OBJECTS_MAX};
}

void wait_objects_finish(struct wait_objects *objects)
{
	hash_table_finish(&objects->table);
}

static inline bool is_object(const void *slot, const void *key)
{
	return memcmp(&((const struct object_slot *)slot)->identity, key,
		      sizeof(struct identity)) == 0;
}

static uint32_t find_variable(const struct wait_objects *objects, const struct process *process,
			      uint64_t address)
{
	uint32_t image;
	uint64_t rva;
	if (address == 0 || !process_find_variable(process, address, &image, &rva))
		return 0;
	return stacks_data_node(objects->stacks, image, rva);
}

uint32_t wait_objects_get(struct wait_objects *objects, const struct process *process,
			  const struct profile_object *object, const char *name)
{
	struct identity identity = {
		.life = process->start_ns,
		.address = object->address,
		.name = name ? hash_bytes(&objects->key, name, strlen(name)) | 1 : 0,
		.pid = process->pid,
		.kind = object->kind,
		.number = object->number,
		.type = object->type,
		.created = object->created,
	};
	uint64_t hash = hash_bytes(&objects->key, &identity, sizeof(identity));
	struct object_slot *slot =
		hash_table_find(&objects->table, sizeof(*slot), hash, is_object, &identity);
	if (slot)
		return slot->index;
	if (objects->table.count < objects->most)
		slot = hash_table_add(&objects->table, sizeof(*slot), hash);
	if (!slot) {
		objects->refused++;
		return 0;
	}
	struct profile_object added = *object;
	added.pid = process->pid;
	added.variable = find_variable(objects, process, object->address);
	slot->identity = identity;
	slot->index = emit_object(objects->emit, &added, name);
	return slot->index;
}
