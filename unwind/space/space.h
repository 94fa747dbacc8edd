/* An address space's internals: mappings, and the cache of unwind rules over them. */
#ifndef UNWIND_SPACE_SPACE_H
#define UNWIND_SPACE_SPACE_H

#include "containers/ranges.h"
#include "unwind/unwind.h"

struct uw_rule_cache;

struct uw_mapping {
	uint64_t start, end;
	uint64_t rva; /* of start: an ELF virtual address, or start itself without a module */
	struct uw_module *module; /* a reference of whoever has the list, or NULL */
	uint32_t tag;
};

struct uw_space {
	enum uw_arch arch;
	struct ranges mappings; /* struct uw_mapping, with a reference to each one's module */
	const struct uw_mapping *last; /* that a lookup hit, or NULL: most walks stay in a few */
	uint64_t generation; /* another one after each change of what was mapped; no other space had
				it before */
	struct uw_rule_cache *cache; /* a reference */
	uint16_t epoch;              /* of the mappings as they are; 0: it has none yet */
	bool shares_epoch;           /* with a clone, or what it is a clone of */
	uint32_t era;                /* of the cache, when epoch was given */
	struct uw_counts counts;
};

/* The mapping that holds address; NULL when there is none. Valid until the next change. */
const struct uw_mapping *uw_space_lookup(struct uw_space *space, uint64_t address);

/* Gives the space an epoch if it has none that holds. Comes before the first lookup of code. */
void uw_space_refresh(struct uw_space *space);

/* Reads the file's bytes at a target address; false where no file backs it. */
bool uw_space_read(struct uw_space *space, uint64_t address, void *bytes, size_t size);

#endif
