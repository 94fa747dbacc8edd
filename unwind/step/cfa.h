/* The CFA, and what lies below it: common to steps by different rules. */
#ifndef UNWIND_STEP_CFA_H
#define UNWIND_STEP_CFA_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"
#include "unwind/rules/rule_cache.h"

/* The CFA lies above the stack pointer: the call pushed the return address. In an exact frame, code
 * with its return address in a register may have nothing on the stack. */
static inline bool uw_cfa_is_valid(bool exact, uint64_t sp, uint64_t cfa, uint8_t word)
{
	return cfa % word == 0 && (cfa > sp || (cfa == sp && exact));
}

/*
 * The result of a step with an invalid CFA: UW_STEP_READ if the CFA may lie on another stack
 * (-fsplit-stack, coroutines), which was not copied, else UW_STEP_BAD. Only a CFA from another
 * register than the stack pointer (cfa_is_far) can lie there.
 */
enum uw_step uw_cfa_refuse(struct uw_memory *memory, uint64_t cfa, bool cfa_is_far);

/* Checks a frame's CFA and reads the return address right below it. Returns UW_STEP_OK,
 * UW_STEP_READ or UW_STEP_BAD. */
static inline __attribute__((always_inline)) enum uw_step
uw_cfa_read_return(struct uw_memory *memory, bool exact, uint64_t sp, uint64_t cfa, bool cfa_is_far,
		   uint8_t word, uint64_t *ra)
{
	if (!uw_cfa_is_valid(exact, sp, cfa, word))
		return uw_cfa_refuse(memory, cfa, cfa_is_far);
	return uw_memory_read_sized(memory, uw_word_wrap(cfa - word, word), word, ra)
		       ? UW_STEP_OK
		       : UW_STEP_READ;
}

/*
 * Takes a preserved register from its slot, which lies in the frame [sp, cfa). In the epilogue of a
 * leaf the rules are often not exact: the slot was already popped or, in a stack realigned by gcc,
 * is relative to a frame pointer already popped. The slot then lies outside the rest of the frame,
 * and the register holds the value again. An unreadable slot matters only if a later step needs the
 * register.
 */
static inline __attribute__((always_inline)) void
uw_state_restore(struct uw_state *state, const struct uw_state *frame, struct uw_memory *memory,
		 uint64_t sp, uint64_t cfa, unsigned reg, uint64_t slot, uint8_t word)
{
	bool inside = slot >= sp && slot < cfa;
	uint64_t value;

	if (__builtin_expect(inside && uw_memory_read_sized(memory, slot, word, &value), 1))
		uw_state_set(state, reg, value);
	else if (inside || !frame->exact)
		uw_state_forget(state, reg);
}

#endif
