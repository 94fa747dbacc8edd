#include "unwind/walk/root.h"

#include "unwind/convention/call.h"
#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"
#include "unwind/space/space.h"

enum {
	TOP_MAX = 4096,     /* a coroutine's descriptor may lie above its first frame */
	PUSHED_MAX = 8,     /* words: i386's dynamic loader calls with five, aligned to 16 bytes */
	ARGUMENTS_SEEN = 8, /* of a program, that are checked */
	ARGUMENTS_MAX = 1 << 20,
	ARGUMENTS_EXTENT = 8 * 1024 * 1024 /* Linux, fs/exec.c: arguments take 6 MB at most */
};

/* Whether a call may have left this word: by the code in front of it, as far as files show it. */
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

static enum uw_step check_null(struct uw_space *space, const struct uw_stack *stack, uint8_t word,
			       uint64_t sp)
{
	uint64_t value, at;

	if (sp - stack->base > stack->size)
		return UW_STEP_NONE;
	for (at = sp; at - sp < TOP_MAX && uw_stack_read(stack, at, word, &value); at += word)
		if (is_return_address(space, value))
			return UW_STEP_BAD;
	return at - sp < TOP_MAX && stack_is_whole(stack) ? UW_STEP_ROOT : UW_STEP_NONE;
}

/* The number of arguments, ascending pointers to them, and a zero. */
static bool is_argument_list(const struct uw_stack *stack, uint8_t word, uint64_t at)
{
	uint64_t count, last = at, value;

	if (!uw_stack_read(stack, at, word, &count) || count == 0 || count > ARGUMENTS_MAX)
		return false;
	for (uint64_t i = 0; i < count && i < ARGUMENTS_SEEN; i++) {
		at += word;
		if (!uw_stack_read(stack, at, word, &value) || value <= last ||
		    value - last > ARGUMENTS_EXTENT)
			return false;
		last = value;
	}
	return count > ARGUMENTS_SEEN ||
	       (uw_stack_read(stack, at + word, word, &value) && value == 0);
}

static enum uw_step check_entry(struct uw_space *space, const struct uw_stack *stack, uint8_t word,
				uint64_t sp)
{
	for (unsigned i = 0; i <= PUSHED_MAX; i++, sp += word) {
		uint64_t value;
		if (is_argument_list(stack, word, sp))
			return UW_STEP_ROOT;
		if (!uw_stack_read(stack, sp, word, &value))
			return UW_STEP_NONE;
		if (is_return_address(space, value))
			return UW_STEP_BAD;
	}
	return UW_STEP_NONE;
}

enum uw_step uw_root_check(struct uw_space *space, const struct uw_stack *stack, enum uw_root root,
			   uint64_t sp)
{
	const uint8_t word = uw_machine_of(space->arch)->word;

	switch (root) {
	case UW_ROOT_NULL:
		return check_null(space, stack, word, sp);
	case UW_ROOT_ENTRY:
		return check_entry(space, stack, word, sp);
	case UW_ROOT_TOLD:
		break;
	}
	return UW_STEP_ROOT;
}
