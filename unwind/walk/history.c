#include "unwind/walk/history.h"

#include "containers/array.h"
#include "unwind/frame/machine.h"
#include "unwind/frame/memory.h"
#include "unwind/space/space.h"
#include "unwind/walk/root.h"
#include <assert.h>
#include <stdlib.h>

struct uw_history *uw_history_create(void)
{
	return calloc(1, sizeof(struct uw_history));
}

void uw_history_destroy(struct uw_history *history)
{
	if (!history)
		return;
	free(history->past);
	free(history);
}

void uw_history_begin(struct uw_history *history, const struct uw_space *space)
{
	if (history->space != space || history->generation != space->generation)
		history->count = 0;
	history->space = space;
	history->generation = space->generation;
	history->cursor = history->count;
}

static uint8_t word_of(const struct uw_history *history)
{
	return uw_machine_of(history->space->arch)->word;
}

static bool verify_end(const struct uw_history *history, struct uw_space *space,
		       const struct uw_stack *stack)
{
	const struct uw_note *end = &history->end;
	uint64_t at = end->slot, word;

	/* Only the sample's copy of the stack counts. */
	for (unsigned i = 0; i < end->zeros; i++, at += word_of(history))
		if (!uw_stack_read(stack, at, word_of(history), &word) || word != 0)
			return false;
	return uw_root_check(space, stack, (enum uw_root)end->root, at) == UW_STEP_ROOT;
}

static bool is_past(const struct uw_past *past, const struct uw_met *met)
{
	return past->frame.sp == met->sp && past->frame.ip == met->ip &&
	       (!past->needs_fp || (met->knows_fp && past->fp == met->fp));
}

/* Whether the step from a kept frame would give the same caller again. In every kept step the
 * return address lies right below the caller's stack pointer. bytes: the copy, from base on. */
static inline __attribute__((always_inline)) bool
holds_step(const struct uw_past *at, const uint8_t *bytes, uint64_t base, uint8_t word)
{
	const struct uw_past *caller = at - 1;
	const uint64_t cfa_slot = at->fp + (uint64_t)(int64_t)(at->loaded * word);

	if (uw_word_at(bytes, caller->frame.sp - word - base, word) != caller->frame.ip)
		return false;
	if (!at->has_slots)
		return true;
	return (at->fp_slot == 0 || uw_word_at(bytes, at->fp_slot - base, word) == caller->fp) &&
	       (at->loaded == 0 || uw_word_at(bytes, cfa_slot - base, word) == caller->frame.sp);
}

/* Takes over all callers of a frame of the past, as many as there is room for. Returns the first
 * frame with a step that does not hold, or root. */
static inline __attribute__((always_inline)) const struct uw_past *
take_callers(const struct uw_past *at, const struct uw_past *root, const struct uw_stack *stack,
	     struct uw_frame *frames, size_t room, uint8_t word)
{
	/* Locals: members would be read again after each frame written. */
	const uint8_t *bytes = stack->bytes;
	const uint64_t base = stack->base;

	for (; at > root; at--) {
		if (!holds_step(at, bytes, base, word))
			break;
		if (room > 0) {
			*frames++ = at[-1].frame;
			room--;
		}
	}
	return at;
}

bool uw_history_take(struct uw_history *history, struct uw_space *space, const struct uw_met *met,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t room,
		     size_t *index)
{
	uint64_t base = stack->base;
	const struct uw_past *root = history->past, *at = root + history->cursor - 1, *last;

	assert(history->space == space && history->cursor <= history->count);
	if (history->cursor == 0 || !is_past(at, met))
		return false;
	*index = history->cursor - 1;
	/* With the root's stack pointer in the copy, all kept words of the stack are too. */
	if (at->frame.sp - base > root->frame.sp - base || root->frame.sp - base > stack->size ||
	    !verify_end(history, space, stack)) {
		history->cursor = 0;
		return false;
	}
	last = word_of(history) == 8 ? take_callers(at, root, stack, frames, room, 8)
				     : take_callers(at, root, stack, frames, room, 4);
	/* A step that does not hold here would not hold for frames further in. */
	if (last > root)
		history->cursor = (size_t)(last - root);
	return last == root;
}

/* Counts the frames from a kept one to the root by their sources; caller: NULL for the root. */
static void count_sources(struct uw_past *past, const struct uw_past *caller)
{
	uint8_t source = past->frame.source;

	past->by_convention = (uint16_t)((caller ? caller->by_convention : 0) +
					 (source == UW_SOURCE_FRAME_POINTER));
	past->by_analysis =
		(uint16_t)((caller ? caller->by_analysis : 0) + (source == UW_SOURCE_ANALYSIS));
}

/* Whether the step's slot lies between the two frames' stack pointers. */
static bool step_is_inside(const struct uw_frame *frame, const struct uw_note *note,
			   const struct uw_frame *caller, uint8_t word)
{
	uint64_t size = caller->sp - frame->sp, at = note->slot - frame->sp;

	return caller->sp > frame->sp && size >= word && at <= size - word;
}

/* Adds a frame; false: the frame cannot be kept. */
static bool push_frame(struct uw_history *history, const struct uw_frame *frame,
		       const struct uw_note *note)
{
	const struct uw_past *caller = history->count ? &history->past[history->count - 1] : NULL;
	assert(history->count < history->capacity);
	bool caller_needs_fp = caller && caller->needs_fp;
	uint8_t word = word_of(history);
	bool saved = caller && note->slot != caller->frame.sp - word;
	bool needs_slot = (caller_needs_fp || note->in_order) && saved;
	bool is_loaded = note->kind == UW_NOTE_LOADED;

	if (caller && !step_is_inside(frame, note, &caller->frame, word))
		return false;
	history->past[history->count++] =
		(struct uw_past){.frame = *frame,
				 .fp = note->fp,
				 .fp_slot = needs_slot ? note->slot : 0,
				 .needs_fp = note->uses_fp || (caller_needs_fp && !saved),
				 .has_slots = needs_slot || is_loaded,
				 .loaded = is_loaded ? note->loaded : 0};
	count_sources(&history->past[history->count - 1], caller);
	return true;
}

void uw_history_note(struct uw_history *history, const struct uw_frame *frames,
		     const struct uw_note *notes, size_t walked, size_t kept)
{
	assert(walked > 0 && kept <= history->count);
	struct uw_past *met = kept > 0 ? &history->past[kept - 1] : NULL;
	size_t i = walked;

	history->count = kept;
	/* The walk may have reached the met frame from another source. */
	if (met) {
		met->frame = frames[--i];
		count_sources(met, kept > 1 ? met - 1 : NULL);
	}
	/* Without memory for more, the kept frames stay valid. */
	if (i == 0 ||
	    !array_reserve(&history->past, &history->capacity, kept + i, sizeof(*history->past)) ||
	    !history->past)
		return;
	if (kept == 0) {
		if (notes[i - 1].kind != UW_NOTE_END)
			return;
		history->end = notes[i - 1];
		push_frame(history, &frames[i - 1], &notes[i - 1]);
		i--;
	}
	while (i > 0 &&
	       (notes[i - 1].kind == UW_NOTE_STEP || notes[i - 1].kind == UW_NOTE_LOADED) &&
	       push_frame(history, &frames[i - 1], &notes[i - 1]))
		i--;
}
