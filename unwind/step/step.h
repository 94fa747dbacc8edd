/* From the registers of one frame to those of its caller, by call frame information. */
#ifndef UNWIND_STEP_STEP_H
#define UNWIND_STEP_STEP_H

#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"

struct uw_code;
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

#endif
