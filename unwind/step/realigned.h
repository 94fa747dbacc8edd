/*
 * Functions that align their stack themselves: i386's main, and code with wide vectors. gcc keeps
 * where their frame was in a word near the frame pointer, and says so by expressions:
 *   CFA = *(frame pointer + offset), the caller's frame pointer is where the frame pointer points,
 *   other registers are stored at the frame pointer + 8 or 4 * slot, the return address below the
 *   CFA.
 * uw_code.cfa_offset is the offset, uw_saved.slot counts from the frame pointer; its own is 0.
 */
#ifndef UNWIND_STEP_REALIGNED_H
#define UNWIND_STEP_REALIGNED_H

#include "unwind/cfi/state.h"
#include "unwind/rules/quick.h"

/* Takes a row of such a function; false: it is of another form. */
bool uw_realigned_rules(const struct uw_machine *machine, const struct uw_row *row,
			struct uw_quick *rules);

/* As uw_step, for code of kind UW_CODE_REALIGNED. */
enum uw_step uw_step_realigned(const struct uw_machine *machine, const struct uw_code *code,
			       const struct uw_saved *saved, struct uw_state *state,
			       struct uw_memory *memory);

/* A frame as plain steps follow it. */
struct uw_realigned {
	uint64_t ip, sp, fp;
};

/* Makes the frame its caller's where all that is read lies in the copied stack and between the two
   stack pointers, and the return address is not null; false: it is unchanged, uw_step_realigned has
   to look. */
bool uw_realigned_follow(const struct uw_machine *machine, const struct uw_code *code,
			 const struct uw_stack *stack, struct uw_realigned *frame);

#endif
