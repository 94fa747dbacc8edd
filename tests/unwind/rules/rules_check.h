/* A function's decoded rules against the interpreter, at one address. */
#ifndef TESTS_UNWIND_RULES_RULES_CHECK_H
#define TESTS_UNWIND_RULES_RULES_CHECK_H

#include "unwind/module/module.h"
#include "unwind/rules/rule_cache.h"

struct rules_check {
	bool has;          /* the rules are known; else they are left to the interpreter */
	bool is_common;    /* the interpreter has a row there that the common form can say */
	const char *wrong; /* what differs; NULL: nothing does */
};

/* What uw_function_rules_find says at rva has to be what a search and the interpretation of that
 * one FDE lead to. x86 only. */
struct rules_check rules_check(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva);

#endif
