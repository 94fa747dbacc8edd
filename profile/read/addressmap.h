/* Which module held an address at a time: a segment tree over the addresses at which modules begin
 * and end. Memory grows as n log n, a look-up as (log n)^2, however the modules overlap. */
#ifndef TBRW_PROFILE_ADDRESSMAP_H
#define TBRW_PROFILE_ADDRESSMAP_H

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_ADDRESS_NONE UINT32_MAX

struct profile_address_range {
	uint64_t start;
	uint64_t end; /* first address behind it */
	uint64_t load_tsc;
	uint64_t unload_tsc;
	uint32_t module; /* what a look-up returns */
};

struct profile_address_map {
	struct profile_address_range *ranges; /* in load order; index = rank */
	uint32_t range_count;
	uint64_t *bounds; /* sorted, distinct; leaf i holds bounds[i] <= address < bounds[i + 1] */
	uint32_t leaf_count;
	uint32_t *node_first; /* first entry of node n; node 1 is the top, leaf i is node leaf_count
				 + i */
	uint32_t *entries;    /* ranks, rising within a node */
	uint64_t *entry_unload; /* the latest unload time of this entry and those before it in its
				   node */
};

/* Takes the ranges over (they are freed by finish, also on failure); empty ones are dropped.
 * false: out of memory, or more than the format allows. */
bool profile_address_map_init(struct profile_address_map *map, struct profile_address_range *ranges,
			      uint32_t count);
void profile_address_map_finish(struct profile_address_map *map);

/* Of the modules with start <= address < end and load_tsc <= tsc < unload_tsc, the one loaded last
 * (added last, of those loaded at once), or PROFILE_ADDRESS_NONE. An unload time of all ones never
 * comes. */
uint32_t profile_address_map_find(const struct profile_address_map *map, uint64_t address,
				  uint64_t tsc);

#endif
