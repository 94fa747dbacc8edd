#include "tools/code/place_costs.h"

#include "containers/compare.h"
#include "tools/samples/tally.h"
#include <stdlib.h>

static bool is_place(const void *item, const void *wanted)
{
	const struct place_cost *cost = item;
	const struct place_cost *other = wanted;
	return cost->group == other->group && cost->place == other->place;
}

static struct place_cost *enter(struct place_costs *costs, const struct place_cost *wanted)
{
	const uint64_t identity[] = {wanted->group, wanted->place};
	uint32_t index =
		index_map_enter(&costs->map, &costs->costs, wanted, sizeof(*wanted),
				index_map_hash(&costs->map, identity, sizeof(identity)), is_place);
	return &costs->costs[index];
}

static void add_stack(struct place_costs *costs, const struct weighted_stacks *at, uint32_t number,
		      place_costs_find *find, void *user)
{
	const struct call_path *path = &at->call_path;
	draws_add_part(&costs->all, &at->entry->sum);
	for (size_t i = 0; i < path->count; i++) {
		struct place_cost wanted = {0};
		if (!find(user, path, i, &wanted))
			continue;
		struct place_cost *cost = enter(costs, &wanted);
		if (i + 1 == path->count)
			draws_add_part(&cost->self, &at->entry->sum);
		if (cost->seen != number)
			draws_add_part(&cost->total, &at->entry->sum);
		cost->seen = number;
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct place_cost *left = a;
	const struct place_cost *right = b;
	int order = compare_numbers(left->group, right->group);
	return order ? order : compare_numbers(left->place, right->place);
}

void place_costs_collect(struct place_costs *costs, struct weighted_stacks *stacks,
			 place_costs_find *find, void *user)
{
	uint32_t number = 0;
	*costs = (struct place_costs){0};
	while (weighted_stacks_next(stacks)) {
		call_path_find_lines(&stacks->call_path, stacks->functions);
		add_stack(costs, stacks, ++number, find, user);
	}
	if (place_costs_count(costs) > 1)
		qsort(costs->costs, place_costs_count(costs), sizeof(*costs->costs),
		      compare_places);
}

void place_costs_finish(struct place_costs *costs)
{
	free(costs->costs);
	index_map_finish(&costs->map);
	*costs = (struct place_costs){0};
}

uint32_t place_costs_from(const struct place_costs *costs, uint32_t group, uint64_t place)
{
	const struct place_cost wanted = {.group = group, .place = place};
	uint32_t low = 0;
	uint32_t high = place_costs_count(costs);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_places(&costs->costs[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
