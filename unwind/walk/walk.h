/*
 * A walk in progress: walk.c steps from frame to frame, plain.c runs through the frames of
 * plain code, which most are.
 */
#ifndef UNWIND_WALK_WALK_H
#define UNWIND_WALK_WALK_H

#include "unwind/cfi/machine.h"
#include "unwind/cfi/memory.h"
#include "unwind/cfi/state.h"
#include "unwind/rules/rule_cache.h"

struct uw_note;

/*
 * A walk at one of its frames. Of plain code only what the steps need is followed: the members
 * here. The rest of the registers is that of the frame `behind` steps further in, where the last
 * step that was not plain led; to settle is to bring it here.
 */
struct uw_walk {
	struct uw_space *space;
	struct uw_rule_cache *cache;
	const struct uw_machine *machine;
	struct uw_memory memory;
	const struct uw_code *code;
	uint64_t ip, sp, fp; /* fp only if it is known */
	bool exact, knows_fp;
	bool left_copy; /* the current frame is on a stack that was not copied */
	uint8_t source; /* enum uw_source of the current frame */
	uint8_t root;   /* enum uw_root: what ended the stack, once that is so */
	unsigned switches;
	size_t behind;
	const struct uw_regs *regs; /* the leaf's, while state does not hold them */
	struct uw_state state;
	struct uw_frame *frames;
	size_t count, max;
	size_t by_convention; /* of the frames, those of UW_SOURCE_FRAME_POINTER */
};

/* How a run of plain steps ended. */
enum uw_run {
	UW_RUN_LEFT,  /* at a frame that is not written yet: its code is not plain, or there is no
			 room */
	UW_RUN_STUCK, /* at a frame whose step is not plain, whatever its code says */
	UW_RUN_MEET,  /* at a frame that history may know */
	UW_RUN_NULL   /* at a null return address; the stack pointer is the caller's */
};

/* Whether a run may start from the current frame, which is written. In a run addresses do not
 * wrap. */
static inline bool uw_walk_is_plain(const struct uw_walk *walk)
{
	const struct uw_stack *stack = walk->memory.stack;

	return walk->code->plain != UW_PLAIN_NOT && walk->knows_fp &&
	       ((walk->sp | stack->base) & (walk->machine->word - 1u)) == 0 &&
	       walk->sp - stack->base <= stack->size &&
	       (walk->machine->word == 8 || stack->base + stack->size <= UINT32_MAX);
}

/* Runs, with a history or without; notes: the current frame's, if there is a history. Of the walk
 * only what struct uw_walk says is followed. */
enum uw_run uw_walk_run_plain(struct uw_walk *walk, struct uw_history *history,
			      struct uw_note *notes);

#endif
