/* From the registers of one frame to those of its caller, by call frame information. */
#ifndef UNWIND_STEP_STEP_H
#define UNWIND_STEP_STEP_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"

struct uw_code;
struct uw_saved;
struct uw_space;

/*
 * Replaces state by its caller's. code is state's own, of a kind with rules or a root; for code
 * without CFI the result is UW_STEP_NONE. memory->elf is the file of the state's lookup address;
 * kinds COMMON and REALIGNED do not read it.
 * The CFA is checked to lie above the stack pointer, except for signal frames, which set
 * state->exact. On anything but UW_STEP_OK the contents of state are unspecified.
 */
enum uw_step uw_step(struct uw_space *space, const struct uw_code *code, struct uw_state *state,
		     struct uw_memory *memory);

/*
 * As uw_step, for code of kind UW_CODE_ANALYSED: by its rules alone. That the return address is
 * one, and of a call that led to this function, is for the caller to check. Registers whose fate is
 * not known are not known afterwards. On anything but UW_STEP_OK state is unchanged.
 */
enum uw_step uw_step_analysed(const struct uw_machine *machine, const struct uw_code *code,
			      const struct uw_saved *saved, struct uw_state *state,
			      struct uw_memory *memory);

/* The registers of a frame in steps that need no others. */
struct uw_pointers {
	uint64_t ip, sp, fp;
};

/* As uw_step for a frame in plain code (rules/form.h), but no further than its CFA and its return
 * address: UW_STEP_OK says that both are there. */
enum uw_step uw_step_look(const struct uw_machine *machine, const struct uw_code *code,
			  const struct uw_pointers *frame, bool exact, struct uw_memory *memory);

/* Replaces a frame in realigned code by its caller's if all words read lie in the copied stack and
 * between the two stack pointers, and the return address is not null; false: the frame is
 * unchanged, only uw_step can tell. */
bool uw_realigned_follow(const struct uw_machine *machine, const struct uw_code *code,
			 const struct uw_stack *stack, struct uw_pointers *frame);

#endif
