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
 * A frame pointer step: rbp points to the saved rbp and the return address; ebp does on i386. Asks
 * that it lies in the copied stack above the stack pointer, that the chain goes upwards (or ends in
 * code with CFI, which may use rbp freely), and that the return address follows a call; where that
 * cannot be read (generated code), that the next frame record fulfils all of this.
 *
 * That makes it some frame's record, this one's or that of one further out. It is this frame's
 * where its return address is nowhere else, that is in no word between the stack pointer and the
 * record:
 * - The call before the record's return address, where it names its target, must be able to have
 *   led to this code: the target lies before it, with no code with CFI in between, or is a linkage
 *   stub or a jump there. After a jump at the end of a function (a tail call) the caller names
 *   another one; such a frame is refused, but for generated code that code without CFI called.
 * - Where the target is the function itself, whose first bytes make the record, and nothing in
 *   between may end it, it is proved; but for a leaf the two words that a prologue or an epilogue
 *   may have on top are looked at. Go's functions show where they end.
 * - Else no word in between may be a return address: none that follows a call, or is in code that
 *   cannot be read; but for calls of Go functions that this code is not in.
 * - Generated code leaves words in its frames that were return addresses. There only those count
 *   that are one of a leaf's two top words, or that rbp was saved below, unchanged: such code saves
 *   rbp where it has a frame. Not the word right below the record: whose frame is empty is no
 *   interpreter, but code like this one, and keeps frame pointers as this does. Return addresses in
 *   files count where the call is indirect, the caller's CFI finds a return address too, and the
 *   record was not made for generated code itself. Generated code that calls other code without
 *   having saved rbp is not seen.
 *
 * Returns UW_STEP_OK, UW_STEP_NULL (a null frame record), UW_STEP_READ or UW_STEP_NONE; state is
 * unchanged on the last two.
 */
enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory);

#endif
