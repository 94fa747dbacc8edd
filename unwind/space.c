#include "unwind/space.h"

#include "unwind/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time in nanoseconds: a space that is made where another one was, and changed less often than
   once in a nanosecond, has generations of its own. */
static uint64_t generation_first(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Takes over the reference to the cache, also where it fails. */
static struct uw_space *space_create(enum uw_arch arch, struct uw_rule_cache *cache)
{
	struct uw_space *space = cache ? calloc(1, sizeof(*space)) : NULL;

	if (!space) {
		uw_rule_cache_unref(cache);
		return NULL;
	}
	space->arch = arch;
	space->cache = cache;
	space->generation = generation_first();
	return space;
}

struct uw_space *uw_space_create(enum uw_arch arch)
{
	return space_create(arch, uw_rule_cache_create());
}

struct uw_space *uw_space_sibling(const struct uw_space *space, enum uw_arch arch)
{
	return space_create(arch, uw_rule_cache_ref(space->cache));
}

void uw_space_destroy(struct uw_space *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->count; i++)
		uw_module_unref(uw_space_mapping(space, i)->module);
	free(space->mappings);
	uw_rule_cache_unref(space->cache);
	free(space);
}

struct uw_space *uw_space_clone(struct uw_space *space)
{
	struct uw_space *clone = uw_space_sibling(space, space->arch);

	if (!clone || space->count == 0)
		return clone;
	clone->epoch = space->epoch; /* what the cache knows of the one holds for the other */
	clone->era = space->era;
	clone->shares_epoch = space->shares_epoch = true;
	clone->mappings = calloc(space->count, sizeof(*clone->mappings));
	if (!clone->mappings) {
		uw_space_destroy(clone);
		return NULL;
	}
	clone->count = clone->capacity = clone->gap = space->count;
	for (size_t i = 0; i < clone->count; i++) {
		clone->mappings[i] = *uw_space_mapping(space, i);
		if (clone->mappings[i].module)
			uw_module_ref(clone->mappings[i].module);
	}
	return clone;
}

/* The index of the first mapping that ends after address; count when there is none. */
static size_t space_index(const struct uw_space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (uw_space_mapping(space, middle)->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool mapping_holds(const struct uw_mapping *mapping, uint64_t address)
{
	return address >= mapping->start && address < mapping->end;
}

const struct uw_mapping *uw_space_lookup(struct uw_space *space, uint64_t address)
{
	size_t i = space->last;

	if (i < space->count && mapping_holds(uw_space_mapping(space, i), address))
		return uw_space_mapping(space, i);
	i = space_index(space, address);
	if (i == space->count || !mapping_holds(uw_space_mapping(space, i), address))
		return NULL;
	space->last = i;
	return uw_space_mapping(space, i);
}

bool uw_space_find(const struct uw_space *space, uint64_t ip, uint32_t *tag, uint64_t *rva)
{
	size_t i = space_index(space, ip);

	if (i == space->count || !mapping_holds(uw_space_mapping(space, i), ip))
		return false;
	*tag = uw_space_mapping(space, i)->tag;
	*rva = uw_space_mapping(space, i)->rva + (ip - uw_space_mapping(space, i)->start);
	return true;
}

/* Mappings come one beside the other, so that there is little between the gap and the next one. */
static void space_move_gap(struct uw_space *space, size_t to)
{
	size_t size = space->capacity - space->count;
	struct uw_mapping *gap;

	if (to == space->gap)
		return; /* and there may be none yet */
	gap = space->mappings + space->gap;
	if (to < space->gap)
		memmove(space->mappings + to + size, space->mappings + to,
			(space->gap - to) * sizeof(*gap));
	else
		memmove(gap, gap + size, (to - space->gap) * sizeof(*gap));
	space->gap = to;
}

/* Room for more mappings; on failure the space is unchanged. */
static int space_reserve(struct uw_space *space, size_t more)
{
	size_t capacity = space->capacity ? space->capacity : 16;
	struct uw_mapping *grown;

	if (space->capacity - space->count >= more)
		return 0;
	while (capacity - space->count < more)
		capacity *= 2;
	space_move_gap(space, space->count);
	grown = reallocarray(space->mappings, capacity, sizeof(*grown));
	if (!grown) {
		errno = ENOMEM;
		return -1;
	}
	space->mappings = grown;
	space->capacity = capacity;
	return 0;
}

/* Makes room for a mapping at index i; the capacity was reserved. */
static struct uw_mapping *space_insert(struct uw_space *space, size_t i)
{
	space_move_gap(space, i);
	space->count++;
	return &space->mappings[space->gap++];
}

/* Splits the mapping that address lies inside of, if there is one; needs room for one more. */
static void space_split(struct uw_space *space, uint64_t address)
{
	size_t i = space_index(space, address);
	struct uw_mapping *mapping, whole;

	if (i == space->count || uw_space_mapping(space, i)->start >= address)
		return;
	whole = *uw_space_mapping(space, i);
	mapping = space_insert(space, i);
	*mapping = whole;
	mapping->end = address;
	mapping = uw_space_mapping(space, i + 1);
	mapping->start = address;
	mapping->rva += address - whole.start;
	if (whole.module)
		uw_module_ref(whole.module);
}

static void space_changed(struct uw_space *space)
{
	space->last = 0;
	space->generation++;
	space->epoch = 0; /* mappings change in bursts: the next walk takes another one */
}

/* Where nothing was mapped before there was nothing to remember: rule_cache.h. But what a clone
   maps there may be another thing. */
static void space_grew(struct uw_space *space)
{
	space->last = 0;
	if (space->shares_epoch)
		space->epoch = 0;
}

/* Removes mappings [first, past). */
static void space_remove(struct uw_space *space, size_t first, size_t past)
{
	for (size_t i = first; i < past; i++)
		uw_module_unref(uw_space_mapping(space, i)->module);
	/* What is right behind the gap becomes part of it. */
	space_move_gap(space, first);
	space->count -= past - first;
}

/* Removes [start, end), with room for two more mappings; returns the index where it was. */
static size_t space_cut(struct uw_space *space, uint64_t start, uint64_t end)
{
	size_t first, past;

	space_split(space, start);
	space_split(space, end);
	first = space_index(space, start);
	for (past = first; past < space->count && uw_space_mapping(space, past)->start < end;
	     past++)
		continue;
	if (past > first) {
		space_remove(space, first, past);
		space_changed(space);
	}
	return first;
}

/* Whether each address has the same place in the same module in both. */
static bool mapping_agrees(const struct uw_mapping *a, const struct uw_mapping *b)
{
	return a->rva - a->start == b->rva - b->start && a->module == b->module && a->tag == b->tag;
}

/* Adds a mapping where all that it overlaps agrees with it, and makes it one with its neighbours
   that do: programs that generate code map it page by page. false: nothing was done. */
static bool space_extend(struct uw_space *space, const struct uw_mapping *mapping)
{
	size_t first = space_index(space, mapping->start), past;
	struct uw_mapping whole = *mapping;

	for (past = first;
	     past < space->count && uw_space_mapping(space, past)->start < mapping->end; past++)
		if (!mapping_agrees(uw_space_mapping(space, past), mapping))
			return false;
	if (first > 0 && uw_space_mapping(space, first - 1)->end == mapping->start &&
	    mapping_agrees(uw_space_mapping(space, first - 1), mapping))
		first--;
	if (past < space->count && uw_space_mapping(space, past)->start == mapping->end &&
	    mapping_agrees(uw_space_mapping(space, past), mapping))
		past++;
	if (past > first && uw_space_mapping(space, first)->start < whole.start) {
		whole.start = uw_space_mapping(space, first)->start;
		whole.rva = uw_space_mapping(space, first)->rva;
	}
	if (past > first && uw_space_mapping(space, past - 1)->end > whole.end)
		whole.end = uw_space_mapping(space, past - 1)->end;
	if (whole.module)
		uw_module_ref(whole.module);
	if (past == first)
		space_insert(space, first);
	else
		space_remove(space, first + 1, past);
	if (past > first)
		uw_module_unref(uw_space_mapping(space, first)->module);
	*uw_space_mapping(space, first) = whole;
	space_grew(space);
	return true;
}

static int space_check(struct uw_space *space, uint64_t start, uint64_t end)
{
	if (start >= end) {
		errno = EINVAL;
		return -1;
	}
	return space_reserve(space, 3);
}

/* Mappings are often reported again, for example by a later look at /proc/PID/maps. */
static bool space_has(const struct uw_space *space, const struct uw_mapping *mapping)
{
	size_t i = space_index(space, mapping->start);
	const struct uw_mapping *present = uw_space_mapping(space, i);

	return i < space->count && present->start == mapping->start &&
	       present->end == mapping->end && present->rva == mapping->rva &&
	       present->module == mapping->module && present->tag == mapping->tag;
}

int uw_space_map(struct uw_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		 struct uw_module *module, uint32_t tag)
{
	struct uw_mapping mapping = {.start = start,
				     .end = end,
				     .rva = module ? uw_module_rva(module, pgoff) : start,
				     .module = module,
				     .tag = tag};
	size_t i;

	if (space_check(space, start, end) < 0)
		return -1;
	if (space_has(space, &mapping) || space_extend(space, &mapping))
		return 0; /* and what is remembered stays valid */
	/* Taken before the cut, which may drop the last reference to the same module. */
	if (module)
		uw_module_ref(module);
	i = space_cut(space, start, end);
	*space_insert(space, i) = mapping;
	space_changed(space);
	return 0;
}

int uw_space_unmap(struct uw_space *space, uint64_t start, uint64_t end)
{
	if (space_check(space, start, end) < 0)
		return -1;
	space_cut(space, start, end);
	return 0;
}

struct uw_module *uw_space_wanted_table(struct uw_space *space)
{
	return uw_rows_wanted(space->cache);
}

void uw_space_counts(const struct uw_space *space, struct uw_counts *counts)
{
	*counts = space->counts;
}

void uw_space_refresh(struct uw_space *space)
{
	struct uw_rule_cache *cache = space->cache;

	if (space->epoch != 0 && space->era == cache->era)
		return;
	space->epoch = uw_rule_cache_epoch(cache);
	space->shares_epoch = false;
	space->era = cache->era;
}
