/*
 * The unwind rules of functions, decoded as a whole and on demand. To find the rules of one address
 * means to search its FDE, to parse that and its CIE, and to run their programs from the start.
 * Here all rows of a function are decoded when walks first meet the function, and later only
 * searched. Functions not met are not decoded.
 */
#ifndef UNWIND_RULES_FUNCTION_RULES_H
#define UNWIND_RULES_FUNCTION_RULES_H

#include "unwind/rules/form.h"

struct uw_function_rules;
struct uw_module;
struct uw_rule_cache;

enum {
	UW_FUNCTION_RULES_BYTES_MAX = 1024 * 1024 /* of all rows of one cache */
};

/*
 * The rules at rva in an x86 module. false, for uw_cfi_find and uw_cfi_row to take over: no FDE
 * describes rva, the FDE's program is not ordinary or malformed, or there is no memory for the
 * rows. A function keeps its module (uw_module_keep), and stays when mappings change. *effort grows
 * by the decoding, as in uw_cfi_row.
 */
bool uw_function_rules_find(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva,
			    uint32_t *effort, struct uw_found_rules *found);

void uw_function_rules_destroy(struct uw_function_rules *functions); /* accepts NULL */

#endif
