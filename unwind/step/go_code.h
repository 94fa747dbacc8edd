/* Go's code at an instruction address, by Go's own table. */
#ifndef UNWIND_STEP_GO_CODE_H
#define UNWIND_STEP_GO_CODE_H

#include "unwind/rules/rule_cache.h"

struct uw_module;

/* What Go's table says of code at an address. */
struct uw_go_code {
	enum uw_code_kind kind; /* COMMON, ROOT or SWITCHED */
	uint64_t start, end;    /* rvas of its function, with the padding behind it */
	struct uw_rules rules;  /* of kind COMMON */
};

/*
 * The code at code->rva by the table of a loaded module. false: the table does not describe it.
 * *effort: as in uw_cfi_row; beyond the limit the result is not to be cached.
 *
 * The table is asked before .debug_frame: Go's linker makes that of the same sizes, so that rules
 * are the same; but the table is in every Go program, needs no whole section to be read and
 * inflated, and knows more: where stacks end, which functions load the stack pointer.
 */
bool uw_go_code_find(const struct uw_module *module, uint64_t rva, bool exact, uint32_t *effort,
		     struct uw_go_code *code);

#endif
