/* The step that nearly every frame takes, in a header for the sake of the walk's inner loop. */
#ifndef UNWIND_STEP_COMMON_H
#define UNWIND_STEP_COMMON_H

#include "unwind/cfi/machine.h"
#include "unwind/cfi/memory.h"
#include "unwind/cfi/state.h"
#include "unwind/rules/rule_cache.h"

/* The CFA lies above the stack pointer: the call pushed the return address. Where no call ended
 * the frame, code that keeps its return address in a register may have nothing on the stack. */
static inline bool uw_cfa_is_valid(const struct uw_state *state, uint64_t sp, uint64_t cfa,
				   uint8_t word)
{
	return cfa % word == 0 && (cfa > sp || (cfa == sp && state->exact));
}

enum { UW_RED_ZONE = 128 }; /* psABI of x86-64, section 3.2.2: usable below the stack pointer */

/*
 * What a step is where the CFA is not valid: UW_STEP_READ where it may lie on another stack
 * (-fsplit-stack, coroutines), so that its frame is not to be had. That takes another register than
 * the stack pointer, which cfa_is_far says.
 */
enum uw_step uw_cfa_refuse(struct uw_memory *memory, uint64_t cfa, bool cfa_is_far);

/* After a call's frame was taken off: the state is the caller's, at the return address. */
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
 * leaf the rules are often not exact: the slot was already popped, or, where gcc realigned the
 * stack, is given relative to a frame pointer that was. Then the slot is outside of what is left of
 * the frame and the register holds the value again. A slot that cannot be read only matters if the
 * register is needed later.
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

/* As uw_state_restore_saved, wherever the slots are. */
void uw_state_restore_each(const struct uw_machine *machine, struct uw_state *state,
			   const struct uw_saved *saved, struct uw_memory *memory, uint64_t sp,
			   uint64_t cfa);

/* Takes all preserved registers from their slots where the frame [sp, cfa) lies in the copy and the
 * slots in the frame; false where not. */
static inline __attribute__((always_inline)) bool
uw_state_restore_saved(const struct uw_machine *machine, struct uw_state *state,
		       const struct uw_saved *saved, const struct uw_memory *memory, uint64_t sp,
		       uint64_t cfa)
{
	const struct uw_stack *stack = memory->stack;
	uint64_t offset = cfa - stack->base;

	if (saved->lowest == INT8_MIN || sp - stack->base > stack->size || offset > stack->size ||
	    (cfa - sp) / machine->word < (uint64_t)-saved->lowest)
		return false;
	/* How many registers a function saves is hard to predict, so there is no branch on it: what
	 * was not saved is taken from where it is. */
	for (unsigned i = 0; i < machine->saved_count; i++) {
		uint64_t *reg = &state->reg[machine->saved[i]];
		const uint8_t *slot =
			stack->bytes + (int64_t)offset + saved->slot[i] * (int)machine->word;

		*reg = uw_word_at(saved->slot[i] ? slot : (const uint8_t *)reg, 0, machine->word);
		state->known |= (uint64_t)(saved->slot[i] != 0) << machine->saved[i];
	}
	return true;
}

/* uw_step_common for one machine. */
static inline __attribute__((always_inline)) enum uw_step
uw_step_common_of(const struct uw_machine *machine, const struct uw_code *code,
		  const struct uw_saved *saved, struct uw_state *state, struct uw_memory *memory)
{
	uint64_t sp = state->reg[machine->sp];
	uint64_t cfa, ra;

	if (!uw_state_knows(state, saved->cfa_reg))
		return UW_STEP_BAD;
	cfa = uw_word_wrap(state->reg[saved->cfa_reg] + (uint64_t)(int64_t)code->cfa_offset,
			   machine->word);
	if (!uw_cfa_is_valid(state, sp, cfa, machine->word))
		return uw_cfa_refuse(memory, cfa, saved->cfa_reg != machine->sp);
	if (!uw_memory_read_sized(memory, cfa - machine->word, machine->word, &ra))
		return UW_STEP_READ;
	if (!uw_state_restore_saved(machine, state, saved, memory, sp, cfa))
		uw_state_restore_each(machine, state, saved, memory, sp, cfa);
	return uw_state_return(machine, state, cfa, ra);
}

/* As uw_step, for code of kind UW_CODE_COMMON. */
static inline enum uw_step uw_step_common(const struct uw_machine *machine,
					  const struct uw_code *code, const struct uw_saved *saved,
					  struct uw_state *state, struct uw_memory *memory)
{
	if (machine->word == 8)
		return uw_step_common_of(&uw_machines[UW_ARCH_X86_64], code, saved, state, memory);
	return uw_step_common_of(&uw_machines[UW_ARCH_I386], code, saved, state, memory);
}

#endif
