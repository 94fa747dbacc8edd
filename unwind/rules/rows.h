/*
 * The unwind rules of functions, decoded as a whole and on demand. To find the rules of one address
 * means to search its FDE, to parse that and its CIE, and to run their programs from the start;
 * once that was done for a function, all of its rows are a table to search. A table holds only
 * functions that were met, so nothing is built for a module as such.
 */
#ifndef UNWIND_RULES_ROWS_H
#define UNWIND_RULES_ROWS_H

#include "unwind/rules/form.h"

struct uw_functions;
struct uw_module;
struct uw_rule_cache;

enum {
	UW_ROWS_BYTES_MAX = 1024 * 1024 /* of all rows of one cache */
};

/*
 * The rules at rva in an x86 module. false: no FDE describes it, its program is not ordinary or
 * malformed, or there is no memory for a table: uw_cfi_find and uw_cfi_row look then. A table keeps
 * its module (uw_module_keep), and stays when mappings change. *effort grows by what was decoded,
 * as in uw_cfi_row_within.
 */
bool uw_rows_find(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva,
		  uint32_t *effort, struct uw_found_row *row);

/* Frees all tables of a cache. Accepts NULL. */
void uw_functions_destroy(struct uw_functions *functions);

#endif
