/*
 * Objects that threads wait for, each written once: those of one life of a process. A file is
 * another object when its descriptor leads to another one.
 */
#ifndef COLLECTOR_WAITS_WAIT_OBJECTS_H
#define COLLECTOR_WAITS_WAIT_OBJECTS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/profile.h"
#include <stdint.h>

struct emit;
struct process;
struct stacks;

enum { WAIT_OBJECTS_MAX = 1048576 };

struct wait_objects {
	struct emit *emit;     /* borrowed */
	struct stacks *stacks; /* borrowed */
	struct hash_table table;
	struct hash_key key;
	uint32_t most;    /* as many have a record */
	uint64_t refused; /* waits for objects without one */
};

/* For the caller's memory; wait_objects_finish frees what it took. */
void wait_objects_init(struct wait_objects *objects, struct stacks *stacks, struct emit *emit);
void wait_objects_finish(struct wait_objects *objects);

/*
 * The record of an object of the process: its kind, address, number, type and created, with its
 * name (NULL: none). pid, name and variable are filled in here. A new one is written. Out of
 * memory, or where there are too many, it is the unknown object, 0, and counts as refused.
 */
uint32_t wait_objects_get(struct wait_objects *objects, const struct process *process,
			  const struct profile_object *object, const char *name);

#endif
