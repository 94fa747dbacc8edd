/* The common form of x86-64's unwind rules, evaluated quickly. */
#ifndef UNWIND_CFI_QUICK_H
#define UNWIND_CFI_QUICK_H

#include "unwind/cfi.h"
#include "unwind/step.h"

/* CFA = register + offset; return address at CFA - 8; preserved registers at CFA + 8 * saved. */
struct uw_quick {
	int32_t cfa_offset;
	uint8_t cfa_reg;
	bool has_cfa;
	bool has_ra;
	int8_t saved[UW_SAVED_COUNT]; /* in the order of uw_saved_regs; 0: not saved */
};

/*
 * Evaluates the FDE's instructions up to rva. false: some instruction on the way is not ordinary,
 * or malformed, and uw_cfi_row has to look; *row is unchanged then. What it gives equals
 * uw_cfi_row's.
 */
bool uw_cfi_quick(const struct uw_fde *fde, uint64_t rva, struct uw_quick *row);

struct uw_quick_row {
	uint32_t offset; /* from the FDE's start: holds from here to the next row */
	struct uw_quick rules;
};

/*
 * All rows of an FDE in order of their addresses. Returns how many, 0 when some instruction is not
 * ordinary, or malformed, or `room` does not suffice.
 */
size_t uw_cfi_quick_rows(const struct uw_fde *fde, struct uw_quick_row *rows, size_t room);

#endif
