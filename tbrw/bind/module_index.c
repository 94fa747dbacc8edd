#include "tbrw/bind/module_index.h"

#include "containers/compare.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The modules of one process id, or the global ones, timed one way: an interval tree over
 * addresses. The address space is cut at each module's ends; a binary tree stands on the pieces
 * (node 1 is the root, piece p is node pieces + p), and each module is listed at the few nodes
 * whose pieces it exactly covers. The modules of an address are listed on the path from its piece
 * to the root. Each list is in order of load time; `latest` is a tree of maxima over the lists'
 * unload times: the last loaded module still there is found without walking. */
struct module_group {
	uint64_t key;
	uint64_t *cuts;
	size_t pieces;
	size_t *first;    /* of each node's list in `listed`; one more than there are nodes */
	uint32_t *listed; /* indices of modules */
	uint64_t *latest;
	size_t listed_count;
};

/* Global modules and those timed by sample number are groups of their own. */
static uint64_t group_key(uint32_t pid, bool global, bool tsc)
{
	return (uint64_t)global << 33 | (uint64_t)tsc << 32 | pid;
}

static uint64_t module_key(const struct tb5_bind_module *m)
{
	return group_key(m->pid, m->global, m->tsc);
}

static int compare_modules(const void *a, const void *b)
{
	const struct tb5_bind_module *x = a;
	const struct tb5_bind_module *y = b;
	int order = compare_numbers(module_key(x), module_key(y));

	if (!order)
		order = compare_numbers(x->load, y->load);
	return order ? order : compare_numbers(x->record, y->record);
}

static int compare_addresses(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The last cut at or below `address`; there must be one. */
static size_t find_piece(const struct module_group *g, uint64_t address)
{
	size_t low = 0;
	size_t high = g->pieces;

	assert(g->pieces > 0 && address >= g->cuts[0]);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (g->cuts[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Visits the nodes that together cover pieces from `low` up to `high`. */
static void cover(struct module_group *g, size_t low, size_t high, uint32_t module, bool fill)
{
	for (low += g->pieces, high += g->pieces; low < high; low /= 2, high /= 2) {
		size_t nodes[2];
		size_t n = 0;

		if (low & 1)
			nodes[n++] = low++;
		if (high & 1)
			nodes[n++] = --high;
		while (n--) {
			size_t *slot = &g->first[nodes[n]];

			if (fill)
				g->listed[(*slot)++] = module;
			else
				(*slot)++;
		}
	}
}

static void list_modules(struct module_group *g, const struct tb5_bind_module *modules,
			 size_t begin, size_t end, bool fill)
{
	for (size_t i = begin; i < end; i++) {
		size_t low = find_piece(g, modules[i].address);
		size_t high = modules[i].end == g->cuts[g->pieces] ? g->pieces
								   : find_piece(g, modules[i].end);

		cover(g, low, high, (uint32_t)i, fill);
	}
}

static bool group_cut(struct module_group *g, const struct tb5_bind_module *modules, size_t begin,
		      size_t end)
{
	size_t n = 0, kept = 0;

	g->cuts = malloc((end - begin) * 2 * sizeof(*g->cuts));
	if (!g->cuts)
		return false;
	for (size_t i = begin; i < end; i++) {
		g->cuts[n++] = modules[i].address;
		g->cuts[n++] = modules[i].end;
	}
	qsort(g->cuts, n, sizeof(*g->cuts), compare_addresses);
	for (size_t i = 0; i < n; i++)
		if (!kept || g->cuts[kept - 1] != g->cuts[i])
			g->cuts[kept++] = g->cuts[i];
	g->pieces = kept - 1;
	return true;
}

/* Modules `begin` up to `end` are those of the group, none of them empty. */
static bool group_build(struct module_group *g, const struct tb5_bind_module *modules, size_t begin,
			size_t end)
{
	size_t nodes, total = 0;

	if (!group_cut(g, modules, begin, end))
		return false;
	nodes = g->pieces * 2;
	g->first = calloc(nodes + 1, sizeof(*g->first));
	if (!g->first)
		return false;
	list_modules(g, modules, begin, end, false);
	for (size_t i = 0; i <= nodes; i++) {
		size_t n = g->first[i];

		g->first[i] = total;
		total += n;
	}
	/* Each module lies in a piece. */
	assert(total > 0);
	g->listed_count = total;
	g->listed = malloc(total * sizeof(*g->listed));
	g->latest = malloc(total * 2 * sizeof(*g->latest));
	if (!g->listed || !g->latest)
		return false;
	/* Filling moves each node's start to its end, the next node's start. */
	list_modules(g, modules, begin, end, true);
	assert(g->first[nodes - 1] == total);
	memmove(g->first + 1, g->first, nodes * sizeof(*g->first));
	g->first[0] = 0;
	for (size_t i = 0; i < total; i++)
		g->latest[total + i] = modules[g->listed[i]].unload;
	for (size_t i = total; i-- > 1;) {
		uint64_t left = g->latest[2 * i];
		uint64_t right = g->latest[2 * i + 1];

		g->latest[i] = left > right ? left : right;
	}
	return true;
}

bool tb5_module_index_build(struct tb5_module_index *index, struct tb5_bind_module *modules,
			    size_t count)
{
	size_t kept = 0, groups = 0;

	for (size_t i = 0; i < count; i++)
		if (modules[i].end > modules[i].address && modules[i].unload > modules[i].load)
			modules[kept++] = modules[i];
	*index = (struct tb5_module_index){.modules = modules, .count = kept};
	if (!kept)
		return true;
	if (kept > UINT32_MAX)
		return false;
	qsort(modules, kept, sizeof(*modules), compare_modules);
	for (size_t i = 0; i < kept; i++)
		groups += !i || module_key(&modules[i]) != module_key(&modules[i - 1]);
	index->groups = calloc(groups, sizeof(*index->groups));
	if (!index->groups)
		return false;
	for (size_t begin = 0, end; begin < kept; begin = end) {
		struct module_group *g = &index->groups[index->group_count++];

		g->key = module_key(&modules[begin]);
		index->ways |= 1u << (g->key >> 32);
		for (end = begin; end < kept && module_key(&modules[end]) == g->key;)
			end++;
		if (!group_build(g, modules, begin, end))
			return false;
	}
	return true;
}

void tb5_module_index_finish(struct tb5_module_index *index)
{
	for (size_t i = 0; i < index->group_count; i++) {
		free(index->groups[i].cuts);
		free(index->groups[i].first);
		free(index->groups[i].listed);
		free(index->groups[i].latest);
	}
	free(index->groups);
	free(index->modules);
	*index = (struct tb5_module_index){0};
}

/* The last entry of listed[begin..end) unloaded after `when`, or `end`. */
static size_t last_alive(const struct module_group *g, size_t begin, size_t end, uint64_t when)
{
	size_t n = g->listed_count;
	size_t found = 0; /* node of the maxima tree with the entry */
	size_t rightmost = 0;

	/* The covering nodes of the range, from its right end: the right side's come in order, of
	 * the left side's the last one seen is furthest right. */
	for (size_t low = begin + n, high = end + n; low < high; low /= 2, high /= 2) {
		if (low & 1) {
			if (g->latest[low] > when)
				found = low;
			low++;
		}
		if (high & 1) {
			high--;
			if (!rightmost && g->latest[high] > when)
				rightmost = high;
		}
	}
	if (rightmost)
		found = rightmost;
	if (!found)
		return end;
	while (found < n)
		found = 2 * found + (g->latest[2 * found + 1] > when);
	assert(found - n >= begin && found - n < end);
	return found - n;
}

/* How many of listed[begin..end) were loaded at or before `when`, as an end. */
static size_t loaded_by(const struct module_group *g, const struct tb5_bind_module *modules,
			size_t begin, size_t end, uint64_t when)
{
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (modules[g->listed[middle]].load <= when)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

static bool loaded_later(const struct tb5_bind_module *a, const struct tb5_bind_module *b)
{
	return a->load != b->load ? a->load > b->load : a->record > b->record;
}

/* The group with a key, group_count: there is none. */
static size_t find_group(const struct tb5_module_index *index, uint64_t key)
{
	size_t low = 0;
	size_t high = index->group_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->groups[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < index->group_count && index->groups[low].key == key ? low : index->group_count;
}

static const struct tb5_bind_module *find_in_group(const struct tb5_module_index *index,
						   const struct module_group *g, uint64_t address,
						   uint64_t when)
{
	const struct tb5_bind_module *best = NULL;

	if (address < g->cuts[0] || address >= g->cuts[g->pieces])
		return NULL;
	for (size_t node = g->pieces + find_piece(g, address); node; node /= 2) {
		if (g->first[node] == g->first[node + 1])
			continue;
		size_t end = loaded_by(g, index->modules, g->first[node], g->first[node + 1], when);
		size_t at = last_alive(g, g->first[node], end, when);
		if (at < end && (!best || loaded_later(&index->modules[g->listed[at]], best)))
			best = &index->modules[g->listed[at]];
	}
	return best;
}

static const struct tb5_bind_module *find_one_way(struct tb5_module_index *index, uint32_t pid,
						  bool global, bool tsc, uint64_t address,
						  uint64_t when)
{
	uint64_t key = group_key(pid, global, tsc);

	if (!(index->ways >> (key >> 32) & 1))
		return NULL;
	assert(index->memo < index->group_count);
	if (index->groups[index->memo].key != key) {
		size_t at = find_group(index, key);
		if (at == index->group_count)
			return NULL;
		index->memo = at;
	}
	return find_in_group(index, &index->groups[index->memo], address, when);
}

const struct tb5_bind_module *tb5_module_index_find(struct tb5_module_index *index, uint32_t pid,
						    uint64_t address, uint64_t tsc, uint64_t sample)
{
	for (int by_tsc = index->count ? 1 : -1; by_tsc >= 0; by_tsc--) {
		uint64_t when = by_tsc ? tsc : sample;
		when -= when == UINT64_MAX; /* a module never unloaded stays even then */
		const struct tb5_bind_module *own =
			find_one_way(index, pid, false, by_tsc, address, when);
		const struct tb5_bind_module *global =
			find_one_way(index, 0, true, by_tsc, address, when);
		if (own && global)
			return loaded_later(global, own) ? global : own;
		if (own || global)
			return own ? own : global;
	}
	return NULL;
}
