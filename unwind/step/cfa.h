/* Parts common to steps by different rules. */
#ifndef UNWIND_STEP_CFA_H
#define UNWIND_STEP_CFA_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"
#include "unwind/rules/rule_cache.h"

/* The CFA lies above the stack pointer: the call pushed the return address. In an exact frame, code
 * with its return address in a register may have nothing on the stack. */
static inline bool uw_cfa_is_valid(const struct uw_state *state, uint64_t sp, uint64_t cfa,
				   uint8_t word)
{
	return cfa % word == 0 && (cfa > sp || (cfa == sp && state->exact));
}

enum { UW_RED_ZONE = 128 }; /* psABI of x86-64, section 3.2.2: usable below the stack pointer */

/*
 * The result of a step with an invalid CFA: UW_STEP_READ if the CFA may lie on another stack
 * (-fsplit-stack, coroutines), which was not copied, else UW_STEP_BAD. Only a CFA from another
 * register than the stack pointer (cfa_is_far) can lie there.
 */
enum uw_step uw_cfa_refuse(struct uw_memory *memory, uint64_t cfa, bool cfa_is_far);

/* Makes state the caller's, at the return address, after a call's frame was popped. */
static inline enum uw_step uw_state_return(const struct uw_machine *machine, struct uw_state *state,
					   uint64_t cfa, uint64_t ra)
{
	state->ip = ra;
	state->exact = false;
	uw_state_set(state, machine->sp, cfa);
	uw_state_set(state, machine->ip, ra);
	return ra == 0 ? UW_STEP_NULL : UW_STEP_OK;
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
