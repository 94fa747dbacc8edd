/*
 * Exact reuse of a thread's last complete stack. Public calls: unwind.h.
 *
 * A walk is a function of its first registers and of the memory read on the way. Take a frame that
 * no signal interrupted, with rules that compute the CFA from the stack pointer, the frame pointer
 * or a word near the frame pointer, and with only such callers up to the root. Its outer frames
 * then depend on few values: the instruction pointer, the stack pointer, the frame pointer if a
 * rule further out uses it, and on the stack each return address, each CFA that was stored there,
 * and each saved frame pointer in use. While these values are unchanged, the outer frames are too.
 *
 * A step by frame pointer also demands that no return address lies below the record. The check was
 * made when the frame was first met, and is not repeated: the same code at the same place still has
 * its record there.
 */
#ifndef UNWIND_WALK_HISTORY_H
#define UNWIND_WALK_HISTORY_H

#include "unwind/unwind.h"
#include <assert.h>

/* How a step was taken, and so how to verify it later. */
enum uw_note_kind {
	UW_NOTE_OTHER, /* cannot be verified: neither this frame nor one further in is kept */
	UW_NOTE_STEP,
	UW_NOTE_LOADED, /* as UW_NOTE_STEP, with the CFA stored near the frame pointer */
	UW_NOTE_END     /* the root */
};

struct uw_note {
	uint64_t fp;   /* the frame's frame pointer */
	uint64_t slot; /* of steps: address of the saved caller's frame pointer, or, if none was
			  saved, of the return address. UW_NOTE_END: of the zeros */
	uint8_t kind;  /* enum uw_note_kind */
	uint8_t root;  /* UW_NOTE_END: enum uw_root */
	uint8_t zeros; /* UW_NOTE_END: words that are 0, right below those of uw_root_check */
	bool uses_fp;  /* the step reads the frame pointer */
	bool in_order; /* the step checks the saved frame pointer's order */
	int8_t loaded; /* UW_NOTE_LOADED: words from the frame pointer to the stored CFA; not 0 */
};

/* A kept frame. Stack pointers grow from frame to frame towards the root; all words read again lie
 * between the first and the last of them. */
struct uw_past {
	struct uw_frame frame;
	uint64_t fp;
	uint64_t fp_slot; /* 0: the caller's frame pointer is not used, or is the frame's own */
	/* Frames from here to the root of UW_SOURCE_FRAME_POINTER and of UW_SOURCE_ANALYSIS. */
	uint16_t by_convention, by_analysis;
	bool needs_fp;  /* the walk from here on depends on the frame pointer */
	bool has_slots; /* fp_slot or loaded are not 0 */
	int8_t loaded;  /* words from fp to the stored sp of the caller; 0: not stored */
};

static_assert(sizeof(struct uw_past) == 64, "as uw_history_create promises");

struct uw_history {
	const struct uw_space *space; /* with generation: where the frames were found */
	uint64_t generation;
	struct uw_past *past; /* root first */
	size_t count, capacity;
	size_t cursor;      /* frames the current walk may still meet */
	struct uw_note end; /* of the root */
};

/* Call before a walk. Forgets all frames if the space has changed. */
void uw_history_begin(struct uw_history *history, const struct uw_space *space);

/* The current frame of a walk, compared with the past; no signal interrupted it. */
struct uw_met {
	uint64_t ip, sp, fp;
	bool knows_fp;
};

/*
 * Whether met is a frame of the past, and the new copy of the stack verifies all frames further
 * out; space: the walk's. If true, *index is the frame's index in history->past, and the `*index`
 * outer frames are written to frames, up to room. If false, frames may have been overwritten too.
 */
bool uw_history_take(struct uw_history *history, struct uw_space *space, const struct uw_met *met,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t room,
		     size_t *index);

/* Whether uw_history_take may know a frame at sp. Call with growing sp. */
static inline bool uw_history_may_meet(struct uw_history *history, uint64_t sp)
{
	/* Stack pointers grow from frame to frame on both sides. */
	while (history->cursor > 0 && history->past[history->cursor - 1].frame.sp < sp)
		history->cursor--;
	return history->cursor > 0 && history->past[history->cursor - 1].frame.sp == sp;
}

/*
 * Call after a complete walk of `walked` frames, leaf first. The last of these is the innermost of
 * the `kept` verified frames of the past or, if kept is 0, the root. Adds the frames further in, as
 * far as notes allow.
 */
void uw_history_note(struct uw_history *history, const struct uw_frame *frames,
		     const struct uw_note *notes, size_t walked, size_t kept);

#endif
