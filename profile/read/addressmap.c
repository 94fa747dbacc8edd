#include "profile/read/addressmap.h"

#include <stdlib.h>

/* Steps back over unloaded modules that one look-up may take in one node. Real files need few; a
 * file made to need millions gets no module instead of hours. */
#define WALK_LIMIT 4096u

static int compare_ranges(const void *left, const void *right)
{
	const struct profile_address_range *a = left, *b = right;

	if (a->load_tsc != b->load_tsc)
		return a->load_tsc < b->load_tsc ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static uint32_t drop_empty(struct profile_address_range *ranges, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (ranges[i].start < ranges[i].end && ranges[i].load_tsc < ranges[i].unload_tsc)
			ranges[kept++] = ranges[i];
	return kept;
}

static bool make_bounds(struct profile_address_map *map)
{
	uint32_t count = 0;

	map->bounds = reallocarray(NULL, 2 * (size_t)map->range_count, sizeof(*map->bounds));
	if (!map->bounds)
		return false;
	for (uint32_t i = 0; i < map->range_count; i++) {
		map->bounds[count++] = map->ranges[i].start;
		map->bounds[count++] = map->ranges[i].end;
	}
	qsort(map->bounds, count, sizeof(*map->bounds), compare_addresses);
	uint32_t distinct = 1;
	for (uint32_t i = 1; i < count; i++)
		if (map->bounds[i] != map->bounds[distinct - 1])
			map->bounds[distinct++] = map->bounds[i];
	map->leaf_count = distinct - 1;
	return true;
}

/* The leaf that holds the address, leaf_count if none does. */
static uint32_t leaf_of(const struct profile_address_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->leaf_count + 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (map->bounds[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? map->leaf_count : low - 1;
}

/* The nodes that together cover the leaves of a range: at most two on each level. */
static uint32_t cover(const struct profile_address_map *map,
		      const struct profile_address_range *range, uint32_t nodes[64])
{
	uint32_t count = 0;
	uint32_t left = leaf_of(map, range->start) + map->leaf_count;
	uint32_t right = leaf_of(map, range->end - 1) + 1 + map->leaf_count;

	for (; left < right; left /= 2, right /= 2) {
		if (left & 1)
			nodes[count++] = left++;
		if (right & 1)
			nodes[count++] = --right;
	}
	return count;
}

static bool count_entries(struct profile_address_map *map)
{
	uint32_t nodes[64];
	uint64_t total = 0;

	map->node_first = calloc(2 * (size_t)map->leaf_count + 1, sizeof(*map->node_first));
	if (!map->node_first)
		return false;
	for (uint32_t i = 0; i < map->range_count; i++) {
		uint32_t count = cover(map, &map->ranges[i], nodes);
		for (uint32_t n = 0; n < count; n++)
			map->node_first[nodes[n] + 1]++;
		total += count;
	}
	if (total > UINT32_MAX)
		return false;
	for (uint32_t n = 0; n < 2 * map->leaf_count; n++)
		map->node_first[n + 1] += map->node_first[n];
	map->entries = reallocarray(NULL, total, sizeof(*map->entries));
	map->entry_unload = reallocarray(NULL, total, sizeof(*map->entry_unload));
	return map->entries && map->entry_unload;
}

/* Ranges are taken in load order, so each node's entries come out in load order too. */
static bool fill_entries(struct profile_address_map *map)
{
	uint32_t nodes[64];
	uint32_t *used = calloc(2 * (size_t)map->leaf_count + 1, sizeof(*used));

	if (!used)
		return false;
	for (uint32_t i = 0; i < map->range_count; i++) {
		uint32_t count = cover(map, &map->ranges[i], nodes);
		for (uint32_t n = 0; n < count; n++) {
			uint32_t first = map->node_first[nodes[n]];
			uint32_t at = first + used[nodes[n]]++;
			uint64_t unload = map->ranges[i].unload_tsc;
			map->entries[at] = i;
			if (at > first && map->entry_unload[at - 1] > unload)
				unload = map->entry_unload[at - 1];
			map->entry_unload[at] = unload;
		}
	}
	free(used);
	return true;
}

bool profile_address_map_init(struct profile_address_map *map, struct profile_address_range *ranges,
			      uint32_t count)
{
	*map = (struct profile_address_map){.ranges = ranges};
	if (count > INT32_MAX / 4)
		return false;
	map->range_count = drop_empty(ranges, count);
	if (map->range_count == 0)
		return true;
	qsort(ranges, map->range_count, sizeof(*ranges), compare_ranges);
	return make_bounds(map) && count_entries(map) && fill_entries(map);
}

void profile_address_map_finish(struct profile_address_map *map)
{
	free(map->ranges);
	free(map->bounds);
	free(map->node_first);
	free(map->entries);
	free(map->entry_unload);
	*map = (struct profile_address_map){0};
}

/* The highest rank above `best` in a node that was loaded at tsc and not yet unloaded. */
static uint32_t find_in_node(const struct profile_address_map *map, uint32_t node, uint64_t tsc,
			     uint32_t best)
{
	uint32_t first = map->node_first[node];
	uint32_t low = first, high = map->node_first[node + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (map->ranges[map->entries[middle]].load_tsc <= tsc)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t steps = 0; low > first && steps < WALK_LIMIT; steps++) {
		low--;
		uint32_t rank = map->entries[low];
		if (best != PROFILE_ADDRESS_NONE && rank <= best)
			break;
		if (map->entry_unload[low] <= tsc && map->entry_unload[low] != UINT64_MAX)
			break;
		uint64_t unload = map->ranges[rank].unload_tsc;
		if (tsc < unload || unload == UINT64_MAX)
			return rank;
	}
	return best;
}

uint32_t profile_address_map_find(const struct profile_address_map *map, uint64_t address,
				  uint64_t tsc)
{
	uint32_t best = PROFILE_ADDRESS_NONE;

	if (map->range_count == 0)
		return PROFILE_ADDRESS_NONE;
	uint32_t leaf = leaf_of(map, address);
	if (leaf >= map->leaf_count)
		return PROFILE_ADDRESS_NONE;
	for (uint32_t node = leaf + map->leaf_count; node > 0; node /= 2)
		best = find_in_node(map, node, tsc, best);
	return best == PROFILE_ADDRESS_NONE ? best : map->ranges[best].module;
}
