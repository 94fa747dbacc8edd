/* The registers of a frame, and how a step from it to its caller ended. */
#ifndef UNWIND_CFI_STATE_H
#define UNWIND_CFI_STATE_H

#include "unwind/unwind.h"

/* Registers of one frame. */
struct uw_state {
	uint64_t reg[UW_REGS_MAX]; /* DWARF numbers */
	uint64_t known;            /* bit n: reg[n] has the frame's value */
	uint64_t ip;
	bool exact; /* ip is not a return address: the leaf, or a frame interrupted by a signal */
};

static inline bool uw_state_knows(const struct uw_state *state, unsigned reg)
{
	return state->known >> reg & 1;
}

static inline void uw_state_set(struct uw_state *state, unsigned reg, uint64_t value)
{
	state->reg[reg] = value;
	state->known |= UINT64_C(1) << reg;
}

static inline void uw_state_forget(struct uw_state *state, unsigned reg)
{
	state->known &= ~(UINT64_C(1) << reg);
}

/* How a step from a frame to its caller ended. */
enum uw_step {
	UW_STEP_OK,
	UW_STEP_ROOT, /* there is no caller */
	UW_STEP_NULL, /* the return address is null, the rest of the state that of the caller */
	UW_STEP_READ, /* memory was missing at uw_memory.failed */
	UW_STEP_BAD,  /* unwind information or memory contradicts itself */
	UW_STEP_NONE  /* no rule and no convention applies */
};

#endif
