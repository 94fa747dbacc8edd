/*
 * Steps through code without call frame information, by calling convention. The steps are strict:
 * one failed check refuses the step.
 */
#ifndef UNWIND_CONVENTION_CONVENTION_H
#define UNWIND_CONVENTION_CONVENTION_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"

struct uw_code;
struct uw_space;

/*
 * For a leaf, or code interrupted by a signal, in a file. The return address is on top of the
 * stack, or where the next instruction (ret, add and ret, mov %rsp, %rbp after the push) shows it
 * to be. Without such an instruction, the top word is the return address or was pushed after it,
 * unless the function has made room on its stack: room holds words of older frames. No byte of the
 * function up to here may therefore be part of an instruction that makes room. If the call before
 * the return address names a target, the function starts there, and the target must be this code.
 * If the call names none, the stack pointer must also have the alignment of a function's entry.
 * Returns UW_STEP_OK or UW_STEP_NONE, in which case state is unchanged.
 */
enum uw_step uw_convention_leaf(struct uw_space *space, struct uw_state *state,
				struct uw_memory *memory);

/*
 * For code known to have no words of its own on the stack: the return address is on top, after a
 * call of any target. Returns as uw_convention_leaf does.
 */
enum uw_step uw_convention_return(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory);

/*
 * For a leaf, or code interrupted by a signal, at null: a call through a pointer led there, no code
 * has run since, and the return address is on top of the stack. Requires a call before this address
 * and the alignment of a function's entry, also on i386. Returns as uw_convention_leaf does.
 */
enum uw_step uw_convention_null_call(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory);

/* How a step by analysis was taken: what of it can change with the stack. */
struct uw_taken {
	uint64_t slot; /* of the caller's frame pointer or, if not saved, of the return address */
	bool uses_fp;
	bool is_plain; /* the caller's pointers depend on the stack and frame pointers alone */
};

/*
 * For code of kind UW_CODE_ANALYSED, by its rules. The call before the return address must have led
 * to this function. Returns UW_STEP_OK, UW_STEP_NULL (a null return address), UW_STEP_READ or
 * UW_STEP_NONE; state is unchanged on the last two.
 */
enum uw_step uw_convention_analysed(struct uw_space *space, const struct uw_code *code,
				    struct uw_state *state, struct uw_memory *memory,
				    struct uw_taken *taken);

/*
 * For code in a file whose function's start is not known: the words on the stack are searched for
 * the return address of a call whose target, by analysis, comes to this code, and has its return
 * address in this very word. From then on the start is known. Returns UW_STEP_OK or UW_STEP_NONE,
 * in which case state is unchanged.
 */
enum uw_step uw_convention_called(struct uw_space *space, struct uw_state *state,
				  struct uw_memory *memory, struct uw_taken *taken);

/*
 * For generated code that can be read, and functions of files that a symbol tells and whose returns
 * follow rules of their own: by the way from there to the function's return. A call must
 * precede the return address. Returns UW_STEP_OK, UW_STEP_READ or UW_STEP_NONE; state is unchanged
 * on the last two.
 */
enum uw_step uw_convention_generated(struct uw_space *space, struct uw_state *state,
				     struct uw_memory *memory, struct uw_taken *taken);

/*
 * A frame pointer step: rbp, ebp on i386, points to a frame record: the saved frame pointer and the
 * return address. Checks that the words are a record, in the copied stack above the stack pointer,
 * and this frame's own, not an outer frame's; frame_record.c explains each check. A frame after a
 * tail call is refused, except generated code called by code without CFI.
 *
 * Returns UW_STEP_OK, UW_STEP_NULL (a null frame record), UW_STEP_READ or UW_STEP_NONE; state is
 * unchanged on the last two.
 */
enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory);

#endif
