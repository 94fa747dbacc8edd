#include "unwind/space/space.h"

#include "unwind/generated/code.h"
#include "unwind/module/module.h"
#include "unwind/rules/rule_cache.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* The time in nanoseconds: a new space at the address of a destroyed one gets generations of its
 * own, because the old one changed less than once in a nanosecond. */
static uint64_t generation_first(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Takes over the reference to the cache, on failure too. */
static struct uw_space *create_space(enum uw_arch arch, struct uw_rule_cache *cache)
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
	return create_space(arch, uw_rule_cache_create());
}

struct uw_space *uw_space_sibling(const struct uw_space *space, enum uw_arch arch)
{
	return create_space(arch, uw_rule_cache_ref(space->cache));
}

void uw_space_destroy(struct uw_space *space)
{
	struct ranges_place place = {0};
	const struct uw_mapping *mapping;

	if (!space)
		return;
	while ((mapping = ranges_next(&space->mappings, &place)))
		uw_module_unref(mapping->module);
	ranges_finish(&space->mappings);
	uw_generated_destroy(space->generated);
	uw_rule_cache_unref(space->cache);
	free(space);
}

struct uw_space *uw_space_clone(struct uw_space *space)
{
	struct uw_space *clone = uw_space_sibling(space, space->arch);
	struct ranges_place place = {0};
	const struct uw_mapping *mapping;

	if (!clone || space->mappings.count == 0)
		return clone;
	clone->epoch = space->epoch; /* cached rules hold for both */
	clone->era = space->era;
	clone->shares_epoch = space->shares_epoch = true;
	if (!ranges_copy(&clone->mappings, &space->mappings)) {
		uw_space_destroy(clone);
		return NULL;
	}
	while ((mapping = ranges_next(&clone->mappings, &place)))
		if (mapping->module)
			uw_module_ref(mapping->module);
	return clone;
}

static bool mapping_holds(const struct uw_mapping *mapping, uint64_t address)
{
	return address >= mapping->start && address < mapping->end;
}

static const struct uw_mapping *find_mapping(const struct uw_space *space, uint64_t address)
{
	const struct uw_mapping *mapping =
		ranges_at(&space->mappings, ranges_find(&space->mappings, address));

	return mapping && mapping_holds(mapping, address) ? mapping : NULL;
}

const struct uw_mapping *uw_space_lookup(struct uw_space *space, uint64_t address)
{
	const struct uw_mapping *mapping = space->last;

	if (mapping && mapping_holds(mapping, address))
		return mapping;
	mapping = find_mapping(space, address);
	if (mapping)
		space->last = mapping;
	return mapping;
}

bool uw_space_read(struct uw_space *space, uint64_t address, void *bytes, size_t size)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, address);

	if (!mapping)
		return false;
	if (!mapping->module)
		return space->generated && size <= mapping->end - address &&
		       uw_generated_read(space->generated, address, bytes, size);
	return uw_lines_read(&mapping->module->lines, &mapping->module->elf,
			     mapping->rva + (address - mapping->start), bytes, size);
}

void uw_space_set_reader(struct uw_space *space, const struct uw_code_reader *reader)
{
	uw_generated_destroy(space->generated);
	space->generated = reader ? uw_generated_create(reader) : NULL;
}

bool uw_space_find(const struct uw_space *space, uint64_t ip, uint32_t *tag, uint64_t *rva)
{
	const struct uw_mapping *mapping = find_mapping(space, ip);

	if (!mapping)
		return false;
	*tag = mapping->tag;
	*rva = mapping->rva + (ip - mapping->start);
	return true;
}

/* Splits the mapping around address, if there is one; needs room for one more. */
static void split_mapping(struct uw_space *space, uint64_t address)
{
	struct ranges_place place = ranges_find(&space->mappings, address);
	struct uw_mapping *mapping = ranges_at(&space->mappings, place), right;

	if (!mapping || mapping->start >= address)
		return;
	right = *mapping;
	right.start = address;
	right.rva += address - mapping->start;
	mapping->end = address;
	if (right.module)
		uw_module_ref(right.module);
	ranges_next(&space->mappings, &place);
	ranges_insert(&space->mappings, &place, &right);
}

static void note_change(struct uw_space *space)
{
	space->last = NULL;
	space->generation++;
	uw_generated_outdate(space->generated);
	space->epoch = 0; /* mappings change in bursts: the next walk takes a new epoch */
}

/* Unmapped code is not cached (rule_cache.h): growth leaves the epoch valid, but not one shared
 * with a clone, which may map another file there. */
static void note_growth(struct uw_space *space)
{
	space->last = NULL;
	if (space->shares_epoch)
		space->epoch = 0;
}

/* Removes the mappings from *place on that start before end; true: there were some. */
static bool remove_mappings(struct uw_space *space, struct ranges_place *place, uint64_t end)
{
	const struct uw_mapping *mapping;
	bool any = false;

	while ((mapping = ranges_at(&space->mappings, *place)) && mapping->start < end) {
		assert(mapping->end <= end); /* whole, after splits */
		uw_module_unref(mapping->module);
		ranges_remove(&space->mappings, place);
		any = true;
	}
	return any;
}

/* Removes [start, end); needs room for two more mappings. Returns the range's place. */
static struct ranges_place cut_range(struct uw_space *space, uint64_t start, uint64_t end)
{
	split_mapping(space, start);
	split_mapping(space, end);
	struct ranges_place place = ranges_find(&space->mappings, start);
	if (remove_mappings(space, &place, end))
		note_change(space);
	return place;
}

/* Whether each address has the same place in the same module in both. */
static bool mapping_agrees(const struct uw_mapping *a, const struct uw_mapping *b)
{
	return a->rva - a->start == b->rva - b->start && a->module == b->module && a->tag == b->tag;
}

/* *whole becomes the mapping joined with all overlapping mappings and agreeing neighbours; *place:
 * of the first of these, or of the mapping itself. false: an overlapping mapping does not agree. */
static bool join_mappings(const struct uw_space *space, struct ranges_place *place,
			  const struct uw_mapping *mapping, struct uw_mapping *whole)
{
	const struct ranges *list = &space->mappings;

	*whole = *mapping;
	*place = ranges_find(list, mapping->start - (mapping->start > 0));
	const struct uw_mapping *other = ranges_at(list, *place);
	if (other && other->end == mapping->start && !mapping_agrees(other, mapping))
		ranges_next(list, place);
	struct ranges_place next = *place;
	while ((other = ranges_next(list, &next)) && other->start <= mapping->end) {
		if (!mapping_agrees(other, mapping))
			return other->start == mapping->end;
		if (other->start < whole->start) {
			whole->start = other->start;
			whole->rva = other->rva;
		}
		if (other->end > whole->end)
			whole->end = other->end;
	}
	return true;
}

/* Adds a mapping if all overlapping ones agree, and joins agreeing neighbours: programs map
 * generated code page by page. false: nothing was done. */
static bool extend_mapping(struct uw_space *space, const struct uw_mapping *mapping)
{
	struct ranges_place place;
	struct uw_mapping whole;

	if (!join_mappings(space, &place, mapping, &whole))
		return false;
	struct uw_mapping *first = ranges_at(&space->mappings, place);
	if (first && first->start == whole.start && first->end == whole.end)
		return true; /* mappings are often reported again */
	if (whole.module)
		uw_module_ref(whole.module);
	remove_mappings(space, &place, whole.end);
	ranges_insert(&space->mappings, &place, &whole);
	note_growth(space);
	return true;
}

static int check_range(struct uw_space *space, uint64_t start, uint64_t end)
{
	if (start >= end) {
		errno = EINVAL;
		return -1;
	}
	return ranges_reserve(&space->mappings, sizeof(struct uw_mapping)) ? 0 : -1;
}

int uw_space_map(struct uw_space *space, uint64_t start, uint64_t end, uint64_t pgoff,
		 struct uw_module *module, uint32_t tag)
{
	struct uw_mapping mapping = {.start = start,
				     .end = end,
				     .rva = module ? uw_module_rva(module, pgoff) : start,
				     .module = module,
				     .tag = tag};

	if (check_range(space, start, end) < 0)
		return -1;
	if (extend_mapping(space, &mapping))
		return 0; /* cached rules stay valid */
	/* Taken before the cut, which may drop the last reference to the same module. */
	if (module)
		uw_module_ref(module);
	struct ranges_place place = cut_range(space, start, end);
	ranges_insert(&space->mappings, &place, &mapping);
	note_change(space);
	return 0;
}

int uw_space_unmap(struct uw_space *space, uint64_t start, uint64_t end)
{
	if (check_range(space, start, end) < 0)
		return -1;
	cut_range(space, start, end);
	return 0;
}

void uw_space_counts(const struct uw_space *space, struct uw_counts *counts)
{
	*counts = space->counts;
}

void uw_space_refresh(struct uw_space *space)
{
	struct uw_rule_cache *cache = space->cache;

	uw_generated_begin(space->generated);
	if (space->epoch != 0 && space->era == cache->era)
		return;
	space->epoch = uw_rule_cache_epoch(cache);
	space->shares_epoch = false;
	space->era = cache->era;
}
