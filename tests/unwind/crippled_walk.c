/*
 * Stands in for unwind/walk/walk.c: a walker that gives up after the leaf, and says so. Tests that
 * compare walks with other unwinders' must fail with it.
 */
#include "unwind/unwind.h"

enum { X86_64_RSP = 7, X86_64_RIP = 16 };

size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop)
{
	struct uw_frame leaf = {.ip = regs->value[X86_64_RIP],
				.rva = regs->value[X86_64_RIP],
				.sp = regs->value[X86_64_RSP],
				.tag = UW_TAG_NONE,
				.exact = true};

	(void)stack;
	uw_space_find(space, leaf.ip, &leaf.tag, &leaf.rva);
	*stop = UW_STOP_NO_INFO;
	if (max_frames > 0)
		frames[0] = leaf;
	return max_frames > 0;
}

size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t max_frames,
		     enum uw_stop *stop, size_t *reused)
{
	(void)history;
	*reused = 0;
	return uw_walk(space, regs, stack, frames, max_frames, stop);
}

const char *uw_stop_name(enum uw_stop stop)
{
	return stop == UW_STOP_NO_INFO ? "no unwind info" : "unexpected";
}
