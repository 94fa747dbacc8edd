/* Quickly evaluates the instructions of ordinary functions, with rules of the common form. */
#ifndef UNWIND_RULES_QUICK_H
#define UNWIND_RULES_QUICK_H

#include "unwind/cfi/find.h"
#include "unwind/rules/form.h"

struct uw_rules_row {
	uint32_t offset; /* from the FDE's start: holds from here to the next row */
	struct uw_rules rules;
};

/*
 * All rows of an FDE of x86 code in order of their addresses. The rules equal uw_cfi_row's;
 * uw_rules_finish has to complete them. Returns the number of rows, or 0 for uw_cfi_row to take
 * over: an instruction is not ordinary, or malformed, or `room` does not suffice. A row too far
 * from the FDE's start for uw_rules_row counts as malformed.
 */
size_t uw_quick_rows(const struct uw_fde *fde, struct uw_rules_row *rows, size_t room);

#endif
