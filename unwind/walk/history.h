/*
 * Exact reuse of a thread's last complete stack. Public calls: unwind.h.
 *
 * A walk is a function of the registers it starts from and of the memory it reads. For a frame that
 * no signal interrupted, whose rules take the CFA from the stack pointer, the frame pointer or a
 * word near that, and all of whose callers are such frames up to the root, little of that matters:
 * the instruction pointer, the stack pointer, the frame pointer where a rule further out depends on
 * it, and on the stack each return address, those CFAs, and those saved frame pointers that matter.
 * Where all of these are as they were, so are the frames further out.
 *
 * A step by frame pointer also asks that no return address lies below the record. It was asked when
 * the frame was first met: the same code at the same place has its record where it had it then.
 */
#ifndef UNWIND_WALK_HISTORY_H
#define UNWIND_WALK_HISTORY_H

#include "unwind/unwind.h"

/* What a step took, by which it can be verified later. */
enum uw_note_kind {
	UW_NOTE_OTHER, /* it cannot: neither this frame nor one further in is kept */
	UW_NOTE_STEP,
	UW_NOTE_LOADED, /* as before, and the CFA was stored near the frame pointer */
	UW_NOTE_END     /* the root */
};

struct uw_note {
	uint64_t fp;   /* the frame's frame pointer */
	uint64_t slot; /* of steps: where the frame saved its caller's frame pointer; where the
			  return address is: it did not. UW_NOTE_END: of the zeros */
	uint8_t kind;  /* enum uw_note_kind */
	uint8_t root;  /* UW_NOTE_END: enum uw_root */
	uint8_t zeros; /* UW_NOTE_END: words that are 0, right below what uw_root_check looks at */
	bool uses_fp;  /* the step reads the frame pointer */
	bool in_order; /* it asks something of the saved one */
	int8_t loaded; /* UW_NOTE_LOADED: words from the frame pointer to where the CFA was; not 0
			*/
};

/* A frame that is kept. Stack pointers grow from frame to frame towards the root, and what is read
 * again lies between the first and the last of them. */
struct uw_past {
	struct uw_frame frame;
	uint64_t fp;
	uint64_t fp_slot; /* 0: the caller's frame pointer does not matter, or is the frame's own */
	uint32_t by_convention; /* frames from here to the root of UW_SOURCE_FRAME_POINTER */
	bool needs_fp;          /* the walk from here on depends on the frame pointer */
	bool has_slots;         /* fp_slot or loaded are not 0 */
	int8_t loaded;          /* words from fp to where the caller's sp is; 0: nowhere */
};

struct uw_history {
	const struct uw_space *space; /* and its generation: what the frames were found in */
	uint64_t generation;
	struct uw_past *past; /* root first */
	size_t count, capacity;
	size_t cursor;      /* frames that the current walk may still meet */
	struct uw_note end; /* of the root */
};

/* Before a walk. Forgets everything if the space is not as it was. */
void uw_history_begin(struct uw_history *history, const struct uw_space *space);

/* What meets the past: the current frame of a walk, which no signal interrupted. */
struct uw_met {
	uint64_t ip, sp, fp;
	bool knows_fp;
};

/*
 * Whether the frame is one of the past, and every one further out is verified in the new copy of
 * the stack; space: that of the walk. If so *index is its index in history->past, and those further
 * out, `*index` of them, are written to frames, as many as there is room for. If not, frames may
 * have been written to as well.
 */
bool uw_history_take(struct uw_history *history, struct uw_space *space, const struct uw_met *met,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t room,
		     size_t *index);

/* Whether uw_history_take may have something for a frame at sp. Comes with growing sp. */
static inline bool uw_history_may_meet(struct uw_history *history, uint64_t sp)
{
	/* Stack pointers grow from frame to frame on both sides. */
	while (history->cursor > 0 && history->past[history->cursor - 1].frame.sp < sp)
		history->cursor--;
	return history->cursor > 0 && history->past[history->cursor - 1].frame.sp == sp;
}

/*
 * After a complete walk that found `walked` frames, leaf first. The last of them is the innermost
 * of the `kept` frames of the past that were verified, or, with none, the root. Adds those further
 * in, up to where notes allow.
 */
void uw_history_note(struct uw_history *history, const struct uw_frame *frames,
		     const struct uw_note *notes, size_t walked, size_t kept);

#endif
