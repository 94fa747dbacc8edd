/* An address space's internals: mappings, and the cache of unwind rules over them. */
#ifndef UNWIND_SPACE_H
#define UNWIND_SPACE_H

#include "unwind/module.h"
#include "unwind/step.h"

struct uw_mapping {
	uint64_t start, end;
	uint64_t rva; /* of start: an ELF virtual address, or start itself without a module */
	struct uw_module *module; /* a reference, or NULL */
	uint32_t tag;
};

struct uw_space {
	enum uw_arch arch;
	struct uw_mapping *mappings; /* sorted, disjoint */
	size_t count, capacity;
	uint64_t generation; /* another one after each change; no other space had it before */
	size_t last; /* index of the mapping that the last lookup hit: most walks stay in a few */
	struct uw_rule_cache *cache; /* NULL until the first walk */
	struct uw_counts counts;
};

/* The mapping that holds address; NULL when there is none. Valid until the next change. */
const struct uw_mapping *uw_space_lookup(struct uw_space *space, uint64_t address);

#endif
