/*
 * CPU time by places in the code: lines of source, or addresses of instructions.
 */
#ifndef TOOLS_CODE_PLACE_COSTS_H
#define TOOLS_CODE_PLACE_COSTS_H

#include "tools/memory/index_map.h"
#include "tools/samples/draws.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdbool.h>
#include <stdint.h>

struct place_cost {
	uint32_t group; /* of places: a file, an image */
	uint64_t place; /* in the group */
	uint32_t seen;  /* number of the last stack with it: a stack counts once */
	struct draws_part self;
	struct draws_part total;
};

struct place_costs { /* all zero: none */
	struct place_cost *costs;
	struct index_map map;
	struct draws_part all; /* of all stacks */
};

/* The place of a function on the path, by its index there; false: of no interest. group and place
 * of *cost are set. */
typedef bool place_costs_find(void *user, const struct call_path *path, size_t at,
			      struct place_cost *cost);

/* Adds up all stacks, which come with call paths. Then sorts by group and place. */
void place_costs_collect(struct place_costs *costs, struct weighted_stacks *stacks,
			 place_costs_find *find, void *user);
void place_costs_finish(struct place_costs *costs);

static inline uint32_t place_costs_count(const struct place_costs *costs)
{
	return index_map_count(&costs->map);
}

/* Index of the first one of the group at or behind the place. */
uint32_t place_costs_from(const struct place_costs *costs, uint32_t group, uint64_t place);

#endif
