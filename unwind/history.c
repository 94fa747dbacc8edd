#include "unwind/history.h"

#include "unwind/step_common.h"

#include <stdlib.h>

enum { REG_RBP = 6, CAPACITY_FIRST = 32 };

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

/* Only the copied stack counts: it is what the sample was taken with. */
static bool stack_holds(const struct uw_stack *stack, uint64_t address, uint64_t expected)
{
	uint64_t offset = address - stack->base;
	uint64_t value;

	if (offset >= stack->size || stack->size - offset < sizeof(value))
		return false;
	memcpy(&value, stack->bytes + offset, sizeof(value));
	return value == expected;
}

/* The step from a kept frame to its caller would go as it went. */
static bool past_verify(const struct uw_past *past, const struct uw_past *caller,
			const struct uw_stack *stack)
{
	/* The return address lies right below the caller's stack, in every step that is kept. */
	return stack_holds(stack, caller->frame.sp - 8, caller->frame.ip) &&
	       (past->fp_slot == 0 || stack_holds(stack, past->fp_slot, caller->fp));
}

static bool history_end_verify(const struct uw_history *history, const struct uw_stack *stack)
{
	for (unsigned i = 0; i < history->zeros; i++)
		if (!stack_holds(stack, history->end_slot + i * 8, 0))
			return false;
	return true;
}

bool uw_history_meet(struct uw_history *history, const struct uw_state *state,
		     const struct uw_stack *stack, size_t *index)
{
	uint64_t sp = state->reg[UW_X86_64_RSP];
	const struct uw_past *past;

	/* Stack pointers grow from frame to frame on both sides. */
	while (history->cursor > 0 && history->past[history->cursor - 1].frame.sp < sp)
		history->cursor--;
	if (history->cursor == 0 || state->exact)
		return false;
	past = &history->past[history->cursor - 1];
	if (past->frame.sp != sp || past->frame.ip != state->ip ||
	    (past->needs_fp &&
	     (!uw_state_knows(state, REG_RBP) || past->fp != state->reg[REG_RBP])))
		return false;
	*index = history->cursor - 1;
	if (!history_end_verify(history, stack)) {
		history->cursor = 0;
		return false;
	}
	for (size_t i = *index; i > 0; i--) {
		if (past_verify(&history->past[i], &history->past[i - 1], stack))
			continue;
		history->cursor = i; /* what differs here differs for frames further in too */
		return false;
	}
	return true;
}

/* Room for count frames; false: out of memory. */
static bool history_reserve(struct uw_history *history, size_t count)
{
	size_t capacity = history->capacity ? history->capacity : CAPACITY_FIRST;
	struct uw_past *grown;

	if (count <= history->capacity)
		return true;
	while (capacity < count)
		capacity *= 2;
	grown = reallocarray(history->past, capacity, sizeof(*grown));
	if (!grown)
		return false;
	history->past = grown;
	history->capacity = capacity;
	return true;
}

static void history_push(struct uw_history *history, const struct uw_frame *frame,
			 const struct uw_note *note)
{
	const struct uw_past *caller = history->count ? &history->past[history->count - 1] : NULL;
	bool caller_needs_fp = caller && caller->needs_fp;

	history->past[history->count++] =
		(struct uw_past){.frame = *frame,
				 .fp = note->fp,
				 .fp_slot = caller_needs_fp ? note->slot : 0,
				 .needs_fp = note->uses_fp || (caller_needs_fp && note->slot == 0)};
}

void uw_history_note(struct uw_history *history, const struct uw_frame *frames,
		     const struct uw_note *notes, size_t walked, size_t kept)
{
	size_t i = walked;

	history->count = kept;
	/* How the walk came to the frame that was met may have changed. */
	if (kept > 0)
		history->past[kept - 1].frame = frames[--i];
	/* Without room, what is kept stays true. */
	if (i == 0 || !history_reserve(history, kept + i) || !history->past)
		return;
	if (kept == 0) {
		if (notes[i - 1].kind != UW_NOTE_END)
			return;
		history->end_slot = notes[i - 1].slot;
		history->zeros = notes[i - 1].zeros;
		history_push(history, &frames[i - 1], &notes[i - 1]);
		i--;
	}
	for (; i > 0 && notes[i - 1].kind == UW_NOTE_STEP; i--)
		history_push(history, &frames[i - 1], &notes[i - 1]);
}
