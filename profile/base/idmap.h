/* A map from 64-bit keys to 32-bit indices. Not thread-safe. */
#ifndef TBRW_PROFILE_IDMAP_H
#define TBRW_PROFILE_IDMAP_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_IDMAP_NONE UINT32_MAX

struct profile_idmap {
	struct hash_table table;
	struct hash_key key; /* ids come from files */
};

/* A zeroed map is empty and needs no init. */
void profile_idmap_finish(struct profile_idmap *map);

/* PROFILE_IDMAP_NONE: not there. */
uint32_t profile_idmap_get(const struct profile_idmap *map, uint64_t key);

/* Adds or replaces; value is not PROFILE_IDMAP_NONE. false: out of memory, the map is unchanged. */
bool profile_idmap_put(struct profile_idmap *map, uint64_t key, uint32_t value);

#endif
