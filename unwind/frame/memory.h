/* The target's memory as far as a sample holds it, and the work of a walk so far. */
#ifndef UNWIND_FRAME_MEMORY_H
#define UNWIND_FRAME_MEMORY_H

#include "unwind/unwind.h"
#include <assert.h>
#include <string.h>

struct uw_elf;

enum {
	/* Of expressions, in one walk: half a millisecond. A frame takes 50 at most. */
	UW_OPERATIONS_MAX = 128 * 1024
};

/* Memory as the sample holds it: the copied stack, and read-only segments of the mapped files. */
struct uw_memory {
	const struct uw_stack *stack;
	const struct uw_elf *elf; /* the file of the frame's code; NULL: none */
	uint64_t bias;            /* mapped address minus the file's address */
	uint64_t failed;          /* address of the last read that failed */
	uint8_t word;             /* the machine's: uw_machine.word */
	/* The work of the walk so far. */
	uint32_t operations; /* of expressions */
	uint32_t effort;     /* counted as in uw_cfi_row */
};

/* A word of a copy; the caller has checked offset. */
static inline __attribute__((always_inline)) uint64_t uw_word_at(const uint8_t *bytes,
								 uint64_t offset, uint8_t word)
{
	uint64_t value = 0;

	memcpy(&value, bytes + offset, word == 4 ? 4 : 8);
	return value;
}

/* Reads size bytes of the copied stack, 1 to 8, as a little-endian number; false: not all in the
 * copy. */
static inline __attribute__((always_inline)) bool
uw_stack_read(const struct uw_stack *stack, uint64_t address, size_t size, uint64_t *value)
{
	assert(size > 0 && size <= sizeof(*value));
	uint64_t offset = address - stack->base;
	if (offset >= stack->size || stack->size - offset < size)
		return false;
	*value = 0;
	memcpy(value, stack->bytes + offset, size);
	return true;
}

/* Reads from the file: the slow part of uw_memory_read_sized. */
bool uw_memory_read_file(struct uw_memory *memory, uint64_t address, size_t size, uint64_t *value);

/* Reads size bytes, 1 to 8, as a little-endian number. */
static inline __attribute__((always_inline)) bool
uw_memory_read_sized(struct uw_memory *memory, uint64_t address, size_t size, uint64_t *value)
{
	return uw_stack_read(memory->stack, address, size, value) ||
	       uw_memory_read_file(memory, address, size, value);
}

static inline bool uw_memory_read_word(struct uw_memory *memory, uint64_t address, uint64_t *value)
{
	return uw_memory_read_sized(memory, address, memory->word, value);
}

#endif
