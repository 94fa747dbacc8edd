/*
 * Steps through code that has no call frame information, by calling convention. They are strict:
 * one that does not hold in every respect is refused.
 */
#ifndef UNWIND_CONVENTION_H
#define UNWIND_CONVENTION_H

#include "unwind/state.h"
#include "unwind/step.h"

/*
 * For the leaf in hand-written code of a module: the return address is on top of the stack where
 * the code pushed nothing. Asks for the stack alignment of a function's entry, for a call before
 * the return address and, where the call names its target, that this is the code in question; on
 * i386 that stands in for the alignment.
 * Returns UW_STEP_OK or UW_STEP_NONE, in which case state is unchanged.
 */
enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory);

/*
 * For a leaf, or what a signal interrupted, at null: a call through a pointer led there, and no
 * code has run since, so that its return address is on top of the stack. Asks for what
 * uw_convention_leaf asks for, on i386 for the alignment too. Returns as that does.
 */
enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory);

/*
 * A frame pointer step: rbp points to the saved rbp and the return address; ebp does on i386. Asks
 * that it lies in the copied stack above the stack pointer, that the chain goes upwards (or ends in
 * code with CFI, which may use rbp freely), and that the return address follows a call; where that
 * cannot be read (generated code), that the next frame record fulfils all of this. Returns
 * UW_STEP_OK, UW_STEP_NULL (a null frame record), UW_STEP_READ or UW_STEP_NONE; state is unchanged
 * on the last two.
 */
enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory);

#endif
