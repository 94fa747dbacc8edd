/* A map from 32-bit ids (pid, tid) to pointers. */
#ifndef COLLECTOR_MODEL_IDMAP_H
#define COLLECTOR_MODEL_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	void *value; /* NULL: free */
	uint32_t id;
};

struct idmap {
	struct idmap_slot *slots; /* power of two, open addressing, linear probing */
	size_t capacity;
	size_t count;
};

void idmap_finish(struct idmap *map); /* the values are the caller's */

/* NULL where id is not in the map. */
void *idmap_get(const struct idmap *map, uint32_t id);

/* Adds or replaces; value is not NULL. 0, or -1 when out of memory. */
int idmap_put(struct idmap *map, uint32_t id, void *value);

/* Removes and returns the value; NULL where id is not in the map. */
void *idmap_remove(struct idmap *map, uint32_t id);

/* The first value at or after slot *position, which is advanced past it; NULL at the end. Start
 * with *position = 0. The map must not change meanwhile. */
void *idmap_next(const struct idmap *map, size_t *position);

#endif
