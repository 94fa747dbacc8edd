/* Evaluates the instructions of ordinary functions, whose rules have the common form, quickly. */
#ifndef UNWIND_RULES_QUICK_H
#define UNWIND_RULES_QUICK_H

#include "unwind/cfi/find.h"
#include "unwind/rules/form.h"

struct uw_rules_row {
	uint32_t offset; /* from the FDE's start: holds from here to the next row */
	struct uw_rules rules;
};

/*
 * All rows of an FDE of x86 code in order of their addresses. What they say equals uw_cfi_row's,
 * and uw_rules_finish has to complete them. Returns how many, 0 where uw_cfi_row has to look: some
 * instruction is not ordinary, or malformed, or `room` does not suffice; what is too far from the
 * FDE's start for uw_rules_row is malformed.
 */
size_t uw_quick_rows(const struct uw_fde *fde, struct uw_rules_row *rows, size_t room);

#endif
