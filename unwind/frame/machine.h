/* The registers of each machine as an unwinder sees them, and of a frame on it. */
#ifndef UNWIND_FRAME_MACHINE_H
#define UNWIND_FRAME_MACHINE_H

#include "unwind/unwind.h"
#include <assert.h>

enum {
	UW_SAVED_COUNT = 6, /* registers that a function preserves, on any x86 machine at most */
	UW_SAVED_FP = 1     /* the frame pointer among them */
};

/* DWARF numbers: System V x86-64 psABI, fig. 3.36. */
enum { UW_X86_64_RSP = 7, UW_X86_64_RIP = 16 };

enum { UW_RED_ZONE = 128 }; /* psABI of x86-64, section 3.2.2: usable below the stack pointer */

/* Registers are DWARF numbers. */
struct uw_machine {
	uint8_t regs; /* tracked registers: numbers below this */
	uint8_t sp;
	uint8_t fp;
	uint8_t ra;   /* return address column; x86: the program counter itself */
	uint8_t ip;   /* index of the program counter in struct uw_regs */
	uint8_t word; /* bytes of an address, a register and a slot of the stack: 8 or 4 */
	uint8_t saved_count;
	uint8_t saved[UW_SAVED_COUNT]; /* preserved registers but for sp, by number */
};

/* In the header: code for one machine sees the numbers as constants. */
static const struct uw_machine uw_machines[] = {
	/* System V x86-64 psABI, fig. 3.4: rbx, rbp, r12..r15. */
	[UW_ARCH_X86_64] = {17, 7, 6, 16, 16, 8, 6, {3, 6, 12, 13, 14, 15}},
	[UW_ARCH_AARCH64] = {33, 31, 29, 30, 32, 8, 0, {0}},
	/* System V i386 psABI, table 2.3: ebx, ebp, esi, edi. */
	[UW_ARCH_I386] = {9, 4, 5, 8, 8, 4, 4, {3, 5, 6, 7}},
};

/* Addresses wrap at the machine's word. */
static inline uint64_t uw_word_wrap(uint64_t value, uint8_t word)
{
	return word == 4 ? (uint32_t)value : value;
}

static inline const struct uw_machine *uw_machine_of(enum uw_arch arch)
{
	return &uw_machines[arch];
}

/* Whether a call leaves its return address on the stack, right below the caller's: x86. */
static inline bool uw_machine_pushes(const struct uw_machine *machine)
{
	return machine->ra == machine->ip;
}

/* Registers of one frame. */
struct uw_state {
	uint64_t reg[UW_REGS_MAX]; /* DWARF numbers */
	uint64_t known;            /* bit n: reg[n] has the frame's value */
	uint64_t ip;
	bool exact; /* ip is not a return address: the leaf, or a frame interrupted by a signal */
};

static_assert(UW_REGS_MAX <= 64, "uw_state.known has a bit for each register");

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

#endif
