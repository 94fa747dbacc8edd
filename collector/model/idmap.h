/* A hash table from 32-bit ids (pid, tid) to pointers, which are the caller's. */
#ifndef COLLECTOR_MODEL_IDMAP_H
#define COLLECTOR_MODEL_IDMAP_H

#include "containers/hash_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL where id is not in the map. */
void *idmap_get(const struct hash_table *map, uint32_t id);

/* Adds or replaces; value is not NULL. false: out of memory. */
bool idmap_put(struct hash_table *map, uint32_t id, void *value);

/* Removes and returns the value; NULL where id is not in the map. */
void *idmap_remove(struct hash_table *map, uint32_t id);

/* The first value at or after slot *position; advances *position past it; NULL at the end. Start
 * with *position = 0. The map must not change meanwhile. */
void *idmap_next(const struct hash_table *map, size_t *position);

#endif
