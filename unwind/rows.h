/*
 * All rows of functions whose unwind information is long. The rules of an address are found by
 * running its function's program from the start, which for the largest functions (an interpreter's
 * loop) takes a microsecond; once run as a whole it is a table to search.
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "unwind/cfi_quick.h"

enum {
	UW_ROWS_CODE_MIN = 48,              /* bytes of instructions from which on a table pays */
	UW_ROWS_BYTES_MAX = 2 * 1024 * 1024 /* of all tables of one cache */
};

struct uw_rows;

/*
 * The rules at rva, in the FDE of module that describes it. A table holds a reference to the
 * module, and stays when mappings change. false: it has none of the common form, or its table could
 * not be made (malformed, out of memory, or too large); uw_cfi_quick and uw_cfi_row look then.
 */
bool uw_rows_find(struct uw_rule_cache *cache, struct uw_module *module, const struct uw_fde *fde,
		  uint64_t rva, struct uw_quick *row);

/* Frees all tables of a cache. */
void uw_rows_clear(struct uw_rule_cache *cache);

#endif
