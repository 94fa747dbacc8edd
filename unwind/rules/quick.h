/* The common form of the unwind rules of x86, 64-bit and 32-bit, evaluated quickly. */
#ifndef UNWIND_RULES_QUICK_H
#define UNWIND_RULES_QUICK_H

#include "unwind/rules/rule_cache.h"

/* CFA = register + offset; the return address in the word below it; preserved registers at CFA +
   slot words. */
struct uw_quick {
	int32_t cfa_offset;
	bool has_cfa, has_ra; /* both, or there is no step to take */
	uint8_t plain;        /* uw_code.plain, as far as the rules say */
	uint8_t zero;         /* in place of padding: rules are compared byte by byte */
	struct uw_saved saved;
};

/* Derives plain and saved.lowest from the rest of the rules. */
void uw_quick_finish(const struct uw_machine *machine, struct uw_quick *rules);

/* A slot at an offset in bytes; false: it has no number. */
static inline bool uw_slot_of(const struct uw_machine *machine, int64_t offset, int8_t *slot)
{
	*slot = (int8_t)(offset / machine->word);
	return *slot * machine->word == offset;
}

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

/* The rules at an address, and whose they are. */
struct uw_found_row {
	struct uw_quick rules;
	uint64_t function; /* where the FDE starts */
	bool ends;         /* the address is the FDE's last byte */
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
