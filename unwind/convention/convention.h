/*
 * Steps through code that has no call frame information, by calling convention. They are strict:
 * one that does not hold in every respect is refused.
 */
#ifndef UNWIND_CONVENTION_CONVENTION_H
#define UNWIND_CONVENTION_CONVENTION_H

#include "unwind/cfi/memory.h"
#include "unwind/cfi/state.h"

struct uw_space;

/*
 * For a leaf, or code that a signal interrupted, in a file: the return address is on top of the
 * stack, or where the next instruction (ret, add and ret, mov %rsp, %rbp after the push) shows it
 * to be. Without such an instruction: what is on top is the return address or was pushed after it,
 * if the function has not made room on its stack, which would hold words of older frames. So no
 * byte of the function up to here may be part of an instruction that makes room; where the call
 * that is seen before the return address names its target, from that on, and the target must be
 * this code. If it does not, the stack pointer has to have the alignment of a function's entry too.
 * Returns UW_STEP_OK or UW_STEP_NONE, in which case state is unchanged.
 */
enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory);

/*
 * For code that is known to have nothing of its own on the stack: its return address is on top, and
 * follows a call, whatever that names. Returns as uw_convention_leaf does.
 */
enum uw_step uw_convention_return(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory);

/*
 * For a leaf, or what a signal interrupted, at null: a call through a pointer led there, and no
 * code has run since, so that its return address is on top of the stack. Asks for what
 * uw_convention_leaf asks for, on i386 for the alignment too. Returns as that does.
 */
enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory);

/*
 * A frame pointer step: rbp, ebp on i386, points to a frame record, the saved one and the return
 * address. Asks that it is one, in the copied stack above the stack pointer, and that it is this
 * frame's own, not that of one further out; how is said at each question in frame_record.c. A frame
 * after a tail call is refused, but for generated code that code without CFI called.
 *
 * Returns UW_STEP_OK, UW_STEP_NULL (a null frame record), UW_STEP_READ or UW_STEP_NONE; state is
 * unchanged on the last two.
 */
enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory);

#endif
