/*
 * The two forms that nearly all unwind rules of x86 have, 64-bit and 32-bit.
 *
 * Common: CFA = register + offset; the return address in the word below it; preserved registers at
 * CFA + slot words.
 *
 * Realigned: of functions that align their stack themselves, i386's main, and code with wide
 * vectors. gcc keeps where their frame was in a word near the frame pointer, and says so by
 * expressions:
 *   CFA = *(frame pointer + offset), the caller's frame pointer is where the frame pointer points,
 *   other registers are stored at the frame pointer + 8 or 4 * slot, the return address below the
 *   CFA.
 * cfa_offset is the offset, uw_saved.slot counts from the frame pointer; its own is 0.
 */
#ifndef UNWIND_RULES_FORM_H
#define UNWIND_RULES_FORM_H

#include "unwind/cfi/machine.h"

struct uw_row;

/*
 * uw_code.plain: the caller's CFA and frame pointer follow from the stack pointer and the frame
 * pointer alone, all that is read lies below the CFA at multiples of a word, and the function is
 * known.
 */
enum {
	UW_PLAIN_NOT = 0xff,
	UW_PLAIN_FROM_FP = 0x80, /* the CFA is the frame pointer, not the stack pointer, + offset */
	UW_PLAIN_WORDS = 0x7f,   /* the frame pointer is saved that many words below the CFA */
	UW_PLAIN_UNSAVED = 1,    /* words: it is not saved; the return address is there */
	UW_PLAIN_WORDS_MAX = 126 /* so that no combination means UW_PLAIN_NOT */
};

/* Where preserved registers are. */
struct uw_saved {
	int8_t slot[UW_SAVED_COUNT]; /* of uw_machine.saved: CFA-relative, in words; 0: not saved */
	uint8_t cfa_reg;
	int8_t lowest; /* of slot; INT8_MIN where one is not below the CFA */
};

/* Rules of either form. */
struct uw_rules {
	int32_t cfa_offset;
	bool has_cfa, has_ra; /* both, or there is no step to take */
	uint8_t plain;        /* uw_code.plain, as far as the rules say */
	struct uw_saved saved;
};

/* Derives plain and saved.lowest from the rest of the rules. */
void uw_rules_finish(const struct uw_machine *machine, struct uw_rules *rules);

/* A slot at an offset in bytes; false: it has no number. */
static inline bool uw_slot_of(const struct uw_machine *machine, int64_t offset, int8_t *slot)
{
	*slot = (int8_t)(offset / machine->word);
	return *slot * machine->word == offset;
}

/* The rules at an address, and whose they are. */
struct uw_found_rules {
	struct uw_rules rules;
	uint64_t function; /* where the FDE starts */
	bool ends;         /* the address is the FDE's last byte */
};

/* Puts a row into the common form; false when it does not fit. */
bool uw_form_common(const struct uw_machine *machine, const struct uw_row *row,
		    struct uw_rules *rules);

/* Puts a row into the realigned form; false when it does not fit. */
bool uw_form_realigned(const struct uw_machine *machine, const struct uw_row *row,
		       struct uw_rules *rules);

#endif
