/* What an instruction does to the state of a function, and where control goes from it. */
#ifndef UNWIND_ANALYSIS_EFFECT_H
#define UNWIND_ANALYSIS_EFFECT_H

#include "unwind/analysis/state.h"

enum { UW_INSTRUCTION_SIZE_MAX = 15 };

enum uw_flow_kind {
	UW_FLOW_NEXT,
	UW_FLOW_CALL,     /* to the next instruction, if the call returns */
	UW_FLOW_BRANCH,   /* to the next instruction, or to target */
	UW_FLOW_JUMP,     /* to target */
	UW_FLOW_INDIRECT, /* to a place told by value */
	UW_FLOW_RETURN,   /* to the caller */
	UW_FLOW_END       /* nowhere */
};

/* Conditions of branches that tell something about a comparison. */
enum uw_condition {
	UW_CONDITION_OTHER,
	UW_CONDITION_ABOVE,
	UW_CONDITION_NOT_BELOW,
	UW_CONDITION_BELOW,
	UW_CONDITION_NOT_ABOVE,
	UW_CONDITION_EQUAL,
	UW_CONDITION_NOT_EQUAL
};

struct uw_effect {
	enum uw_flow_kind flow;
	enum uw_condition condition; /* of BRANCH */
	uint8_t size;                /* of the instruction */
	uint16_t popped;             /* of RETURN: bytes of arguments taken off the stack */
	uint64_t target;             /* of BRANCH and JUMP */
	struct uw_value value;       /* of INDIRECT: TARGET or POINTER, or unknown */
	struct uw_value pushed;      /* of NEXT: a register's, if it was pushed; else unknown */
};

/* Applies the instruction at address, of which at most size bytes are there, to state. false: it is
 * none; state is unchanged. */
bool uw_effect_apply(struct uw_flow_state *state, uint64_t address, const uint8_t *bytes,
		     size_t size, struct uw_effect *effect);

/* Whether an instruction faults wherever it is run: it reads or writes below 64 KB, where Linux
 * maps nothing (vm.mmap_min_addr). gcc ends ways on which a pointer is null so. */
bool uw_effect_faults(const uint8_t *bytes, size_t size);

/* The size of the nop that bytes start with; 0: they start with none. */
unsigned uw_effect_nop(const uint8_t *bytes, size_t size);

/* What holds after a branch that is taken or not. */
void uw_effect_assume(struct uw_flow_state *state, enum uw_condition condition, bool taken);

#endif
