#include "unwind/walk/root.h"

#include "unwind/cfi/machine.h"
#include "unwind/convention/call.h"
#include "unwind/space/space.h"
#include <string.h>

enum {
	TOP_MAX = 4096,     /* above a coroutine's first frame there may be what describes it */
	PUSHED_MAX = 8,     /* words: i386's dynamic loader calls with five, aligned to 16 bytes */
	ARGUMENTS_SEEN = 8, /* of a program, that are looked at */
	ARGUMENTS_MAX = 1 << 20,
	ARGUMENTS_EXTENT = 8 * 1024 * 1024 /* Linux, fs/exec.c: arguments take 6 MB at most */
};

/* A stack and the size of its words. */
struct words {
	const struct uw_stack *stack;
	uint8_t size;
};

/* The word at address; false where it was not copied. */
static bool word_read(const struct words *words, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - words->stack->base;

	if (offset >= words->stack->size || words->stack->size - offset < words->size)
		return false;
	*value = 0;
	memcpy(value, words->stack->bytes + offset, words->size);
	return true;
}

/* Whether a call may have left this word, by what the files show of the code in front of it. */
static bool is_return_address(struct uw_space *space, uint64_t word)
{
	if (!uw_space_lookup(space, word - 1))
		return false;
	const struct uw_call *call = uw_call_find(space, word);
	return !call || call->found || !call->readable;
}

static bool stack_is_whole(const struct uw_stack *stack)
{
	return stack->ends || stack->size < stack->requested;
}

static enum uw_step check_null(struct uw_space *space, const struct words *words, uint64_t sp)
{
	const struct uw_stack *stack = words->stack;
	uint64_t word, at;

	if (sp - stack->base > stack->size)
		return UW_STEP_NONE;
	for (at = sp; at - sp < TOP_MAX && word_read(words, at, &word); at += words->size)
		if (is_return_address(space, word))
			return UW_STEP_BAD;
	return at - sp < TOP_MAX && stack_is_whole(stack) ? UW_STEP_ROOT : UW_STEP_NONE;
}

/* The number of arguments, pointers to them in the order in which they lie above, and a zero. */
static bool is_argument_list(const struct words *words, uint64_t at)
{
	uint64_t count, last = at, value;

	if (!word_read(words, at, &count) || count == 0 || count > ARGUMENTS_MAX)
		return false;
	for (uint64_t i = 0; i < count && i < ARGUMENTS_SEEN; i++) {
		at += words->size;
		if (!word_read(words, at, &value) || value <= last ||
		    value - last > ARGUMENTS_EXTENT)
			return false;
		last = value;
	}
	return count > ARGUMENTS_SEEN || (word_read(words, at + words->size, &value) && value == 0);
}

static enum uw_step check_entry(struct uw_space *space, const struct words *words, uint64_t sp)
{
	uint64_t word;

	for (unsigned i = 0; i <= PUSHED_MAX; i++, sp += words->size) {
		if (is_argument_list(words, sp))
			return UW_STEP_ROOT;
		if (!word_read(words, sp, &word))
			return UW_STEP_NONE;
		if (is_return_address(space, word))
			return UW_STEP_BAD;
	}
	return UW_STEP_NONE;
}

enum uw_step uw_root_check(struct uw_space *space, const struct uw_stack *stack, enum uw_root root,
			   uint64_t sp)
{
	const struct words words = {stack, uw_machine_of(space->arch)->word};

	switch (root) {
	case UW_ROOT_NULL:
		return check_null(space, &words, sp);
	case UW_ROOT_ENTRY:
		return check_entry(space, &words, sp);
	case UW_ROOT_TOLD:
		break;
	}
	return UW_STEP_ROOT;
}
