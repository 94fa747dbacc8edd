/*
 * The two forms of nearly all x86 unwind rules, 64-bit and 32-bit.
 *
 * Common: CFA = register + offset; the return address in the word below it; preserved registers at
 * CFA + slot words.
 *
 * Realigned: of functions that align their stack themselves, i386's main, and code with wide
 * vectors. gcc stores the address of the unaligned frame in a word near the frame pointer, and
 * describes it by expressions:
 *   CFA = *(frame pointer + offset), the caller's frame pointer is stored at the frame pointer,
 *   other registers are stored at the frame pointer + 8 or 4 * slot, the return address below the
 *   CFA.
 * cfa_offset is the offset; uw_saved.slot counts from the frame pointer, whose own slot is 0.
 */
#ifndef UNWIND_RULES_FORM_H
#define UNWIND_RULES_FORM_H

#include "unwind/frame/machine.h"

struct uw_analysis_row;
struct uw_row;

/*
 * uw_code.plain: the caller's CFA and frame pointer follow from the stack pointer and the frame
 * pointer alone, all words read lie below the CFA at multiples of a word, and the function is
 * known.
 */
enum {
	UW_PLAIN_NOT = 0xff,
	UW_PLAIN_FROM_FP = 0x80, /* the CFA is the frame pointer, not the stack pointer, + offset */
	UW_PLAIN_WORDS = 0x7f,   /* words from the CFA down to the saved frame pointer */
	UW_PLAIN_UNSAVED = 1,    /* this word is the return address: no saved frame pointer */
	UW_PLAIN_WORDS_MAX = 126 /* keeps combinations apart from UW_PLAIN_NOT */
};

/* A slot of rules by analysis: what became of the register is not known. */
enum { UW_SLOT_LOST = INT8_MIN };

/* The slots of preserved registers. */
struct uw_saved {
	int8_t slot[UW_SAVED_COUNT]; /* of uw_machine.saved: CFA-relative, in words; 0: not saved */
	uint8_t cfa_reg;
	int8_t lowest; /* of slot; INT8_MIN: some slot is not below the CFA */
};

/* Rules of either form. */
struct uw_rules {
	int32_t cfa_offset;
	uint8_t plain; /* uw_code.plain, as far as rules tell */
	struct uw_saved saved;
};

/* The slot at an offset in bytes; false: out of range, or not a multiple of a word. */
static inline bool uw_slot_of(const struct uw_machine *machine, int64_t offset, int8_t *slot)
{
	*slot = (int8_t)(offset / machine->word);
	return *slot * machine->word == offset;
}

/* Puts a row into the common form; false: the row does not fit. */
bool uw_form_common(const struct uw_machine *machine, const struct uw_row *row,
		    struct uw_rules *rules);

/* Puts a row by analysis, of a known CFA, into the common form; slots may be UW_SLOT_LOST. false:
 * the row does not fit. */
bool uw_form_analysed(const struct uw_machine *machine, const struct uw_analysis_row *row,
		      struct uw_rules *rules);

/* Puts a row into the realigned form; false: the row does not fit. */
bool uw_form_realigned(const struct uw_machine *machine, const struct uw_row *row,
		       struct uw_rules *rules);

#endif
