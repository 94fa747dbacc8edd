/* Evaluates the instructions of ordinary functions, whose rules have the common form, quickly. */
#ifndef UNWIND_RULES_QUICK_H
#define UNWIND_RULES_QUICK_H

#include "unwind/cfi/find.h"
#include "unwind/rules/form.h"

/*
 * Evaluates the instructions of an FDE of x86 code up to rva. false: some instruction on the way is
 * not ordinary, or malformed, and uw_cfi_row has to look; *row is unchanged then. What it gives
 * equals uw_cfi_row's.
 */
bool uw_cfi_quick(const struct uw_fde *fde, uint64_t rva, struct uw_quick *row);

struct uw_quick_row {
	uint32_t offset; /* from the FDE's start: holds from here to the next row */
	struct uw_quick rules;
};

/* The rules that the latest CIE's instructions left, for many FDEs of few CIEs. Zeroed at first. */
struct uw_quick_cie {
	struct uw_reader code; /* the instructions */
	int64_t data_align;
	struct uw_quick rules;
	bool ordinary;
};

/*
 * All rows of an FDE in order of their addresses. cie: NULL, or what was used with the same module
 * before. Returns how many, 0 when some instruction is not ordinary, or malformed, or `room` does
 * not suffice; what is too far from the FDE's start for uw_quick_row is malformed.
 */
size_t uw_cfi_quick_rows(const struct uw_fde *fde, struct uw_quick_cie *cie,
			 struct uw_quick_row *rows, size_t room);

#endif
