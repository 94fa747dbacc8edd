/* An address space's internals: mappings, and the cache of unwind rules over them. */
#ifndef UNWIND_SPACE_SPACE_H
#define UNWIND_SPACE_SPACE_H

#include "containers/ranges.h"
#include "unwind/unwind.h"

struct uw_generated;
struct uw_rule_cache;

struct uw_mapping {
	uint64_t start, end;
	uint64_t rva; /* of start: an ELF virtual address, or start itself without a module */
	struct uw_module *module; /* a reference of the list's owner, or NULL */
	uint32_t tag;
};

struct uw_space {
	enum uw_arch arch;
	struct ranges mappings; /* struct uw_mapping, with a reference to each one's module */
	const struct uw_mapping *last; /* last mapping hit, or NULL: most walks stay in a few */
	uint64_t generation; /* new after each change of existing mappings; no earlier space's */
	struct uw_rule_cache *cache;    /* a reference */
	uint16_t epoch;                 /* of the current mappings; 0: none yet */
	bool shares_epoch;              /* with a clone, or with its original */
	uint32_t era;                   /* of the cache, when epoch was given */
	struct uw_generated *generated; /* owned; NULL: code without a module is not read */
	struct uw_counts counts;
};

/* The mapping of address, or NULL. Valid until the next change. */
const struct uw_mapping *uw_space_lookup(struct uw_space *space, uint64_t address);

/* Gives the space a valid epoch. Call before the first lookup of code. */
void uw_space_refresh(struct uw_space *space);

/* Reads the file's bytes at a target address or, of generated code, the target's; false: they are
 * not known. */
bool uw_space_read(struct uw_space *space, uint64_t address, void *bytes, size_t size);

#endif
