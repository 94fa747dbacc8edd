/*
 * A walk in progress: walk.c steps from frame to frame, plain.c runs through frames of plain code,
 * the most common kind.
 */
#ifndef UNWIND_WALK_WALK_H
#define UNWIND_WALK_WALK_H

#include "unwind/convention/convention.h"
#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"
#include "unwind/rules/rule_cache.h"

struct uw_note;

/*
 * A walk at one of its frames. Plain steps keep only the members here up to date. The other
 * registers, in state, are those of the frame `behind` steps further in, where the last step that
 * was not plain ended. To settle is to bring state to the current frame.
 */
struct uw_walk {
	struct uw_space *space;
	struct uw_rule_cache *cache;
	const struct uw_machine *machine;
	struct uw_memory memory;
	const struct uw_code *code;
	uint64_t ip, sp, fp; /* fp: valid if knows_fp */
	bool exact, knows_fp;
	bool left_copy; /* the current frame's stack was not copied */
	uint8_t source; /* enum uw_source of the current frame */
	uint8_t root;   /* enum uw_root: the reason, once the stack has ended */
	unsigned switches;
	size_t behind;
	const struct uw_regs *regs; /* the leaf's, while state does not hold them */
	struct uw_state state;
	struct uw_frame *frames;
	size_t count, max;
	size_t by_convention;  /* of the frames, those of UW_SOURCE_FRAME_POINTER */
	size_t by_analysis;    /* and those of UW_SOURCE_ANALYSIS */
	struct uw_taken taken; /* the last step of UW_SOURCE_ANALYSIS */
};

/* How a run of plain steps ended. */
enum uw_run {
	UW_RUN_LEFT,  /* at a frame not written yet: its code is not plain, or frames is full */
	UW_RUN_STUCK, /* at a frame of plain code, but the step failed a check */
	UW_RUN_MEET,  /* at a frame that history may know */
	UW_RUN_NULL   /* at a null return address; the stack pointer is the caller's */
};

/* Whether a run may start from the current frame, already written. Addresses in a run do not
 * wrap. */
static inline bool uw_walk_is_plain(const struct uw_walk *walk)
{
	const struct uw_stack *stack = walk->memory.stack;

	return walk->code->plain != UW_PLAIN_NOT && walk->knows_fp &&
	       ((walk->sp | stack->base) & (walk->machine->word - 1u)) == 0 &&
	       walk->sp - stack->base <= stack->size &&
	       (walk->machine->word == 8 || stack->base + stack->size <= UINT32_MAX);
}

/* Runs with or without a history; notes: the current frame's, if there is a history. Does not move
 * state (see struct uw_walk). */
enum uw_run uw_walk_run_plain(struct uw_walk *walk, struct uw_history *history,
			      struct uw_note *notes);

#endif
