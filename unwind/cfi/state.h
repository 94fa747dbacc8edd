/* What one step of a walk works on: the registers of a frame, and the target memory it may read. */
#ifndef UNWIND_CFI_STATE_H
#define UNWIND_CFI_STATE_H

#include "unwind/cfi/machine.h"

#include <string.h>

struct uw_mapping;

/* Registers of one frame. */
struct uw_state {
	uint64_t reg[UW_REGS_MAX]; /* DWARF numbers */
	uint64_t known;            /* bit n: reg[n] has the frame's value */
	uint64_t ip;
	bool exact; /* ip is not a return address: the leaf, or what a signal interrupted */
};

enum {
	/* Of expressions, in one walk: half a millisecond. A frame takes 50 at most. */
	UW_OPERATIONS_MAX = 128 * 1024
};

/* Memory as the sample holds it: the copied stack, and what the mapped files cannot have changed.
 */
struct uw_memory {
	const struct uw_stack *stack;
	const struct uw_mapping *mapping; /* of the frame's code; NULL: none */
	uint64_t failed;                  /* address of the last read that failed */
	uint8_t word;                     /* the machine's: uw_machine.word */
	uint32_t operations;              /* of expressions, in the walk so far */
};

/* A word of a copy, at an offset that holds one. */
static inline __attribute__((always_inline)) uint64_t uw_word_at(const uint8_t *bytes,
								 uint64_t offset, uint8_t word)
{
	uint64_t value = 0;

	memcpy(&value, bytes + offset, word == 4 ? 4 : 8);
	return value;
}

/* Reads from the mapping's module: the slow part of uw_memory_read_sized. */
bool uw_memory_read_module(struct uw_memory *memory, uint64_t address, size_t size,
			   uint64_t *value);

/* Reads size bytes, 1 to 8, as a little-endian number. */
static inline __attribute__((always_inline)) bool
uw_memory_read_sized(struct uw_memory *memory, uint64_t address, size_t size, uint64_t *value)
{
	const struct uw_stack *stack = memory->stack;
	uint64_t offset = address - stack->base;

	if (offset < stack->size && stack->size - offset >= size) {
		*value = 0;
		memcpy(value, stack->bytes + offset, size);
		return true;
	}
	return uw_memory_read_module(memory, address, size, value);
}

static inline bool uw_memory_read(struct uw_memory *memory, uint64_t address, uint64_t *value)
{
	return uw_memory_read_sized(memory, address, sizeof(*value), value);
}

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
	UW_STEP_NONE  /* nothing says how to go on */
};

#endif
