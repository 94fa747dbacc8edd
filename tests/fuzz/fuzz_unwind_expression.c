/*
 * libFuzzer entry: DWARF expressions over hostile registers and memory.
 *
 * Input: a mode byte; 17 registers; the length of the stack; the stack; the rest is the expression.
 * Bit 0 of mode: the stack of the expression starts with a value; bit 1: some registers are
 * unknown; bit 2: words have 4 bytes.
 */
#include "unwind/step/expression.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REGISTERS = 17, REG_NUM_RSP = 7 };

static size_t take(const uint8_t **data, size_t *size, void *bytes, size_t wanted)
{
	size_t have = wanted < *size ? wanted : *size;

	memset(bytes, 0, wanted);
	memcpy(bytes, *data, have);
	*data += have;
	*size -= have;
	return have;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t initial = 0x7fff12345678;
	struct uw_state state = {.known = (UINT64_C(1) << REGISTERS) - 1};
	struct uw_stack stack = {0};
	struct uw_memory memory = {.stack = &stack, .word = 8};
	uint8_t mode = 0, stack_size = 0, *bytes, *code;
	uint64_t value = 0;

	if (size == 0)
		return 0;
	take(&data, &size, &mode, sizeof(mode));
	take(&data, &size, state.reg, REGISTERS * sizeof(state.reg[0]));
	take(&data, &size, &stack_size, sizeof(stack_size));
	/* Exact copies, so that the sanitizer sees a read beyond either. */
	bytes = malloc(stack_size ? stack_size : 1);
	code = malloc(size ? size : 1);
	if (!bytes || !code)
		abort();
	take(&data, &size, bytes, stack_size);
	stack = (struct uw_stack){.base = state.reg[REG_NUM_RSP],
				  .bytes = bytes,
				  .size = stack_size,
				  .requested = stack_size};
	if (size > 0)
		memcpy(code, data, size);
	if (mode & 4) {
		memory.word = 4;
		for (unsigned reg = 0; reg < REGISTERS; reg++)
			state.reg[reg] = (uint32_t)state.reg[reg];
	}
	if (mode & 2)
		state.known &= 0x5a5a5;
	enum uw_step step =
		uw_expression_eval(code, size < UINT16_MAX ? size : UINT16_MAX,
				   mode & 1 ? &initial : NULL, 0x400000, &state, &memory, &value);
	if (step == UW_STEP_OK && memory.word == 4 && value > UINT32_MAX)
		__builtin_trap();
	if (step != UW_STEP_OK && step != UW_STEP_READ && step != UW_STEP_BAD)
		__builtin_trap();
	free(code);
	free(bytes);
	return 0;
}
