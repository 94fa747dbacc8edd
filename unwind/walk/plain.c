/* Runs of plain steps: the inner loop of most walks. */
#include "unwind/step/code.h"
#include "unwind/walk/history.h"
#include "unwind/walk/root.h"
#include "unwind/walk/walk.h"
#include <assert.h>

/* The current frame of a run. Addresses are relative to the start of the copied stack. */
struct plain {
	const struct uw_code *code;
	uint64_t ip, sp, fp;
	struct uw_frame *frame; /* the next to write */
	struct uw_note *note;   /* of the current one */
};

/* Runs from a written frame while code is plain. Compiled once for each word size, with history and
 * without. */
static inline __attribute__((always_inline)) enum uw_run
run_plain(struct uw_walk *walk, struct plain *at, struct uw_history *history, uint8_t word)
{
	const unsigned shift = word == 8 ? 3 : 2;
	const uint8_t *bytes = walk->memory.stack->bytes;
	const uint64_t base = walk->memory.stack->base;
	uint64_t room = (walk->memory.stack->size - at->sp) / word; /* words from sp on */
	const struct uw_frame *end = walk->frames + walk->max;
	const uint16_t key = uw_cache_key(walk->space->epoch, false);
	const struct uw_code *code = at->code;

	for (;;) {
		uint64_t words = code->plain & UW_PLAIN_WORDS;
		uint64_t from = code->plain & UW_PLAIN_FROM_FP ? at->fp : at->sp;
		uint64_t cfa = from + (uint64_t)(int64_t)code->cfa_offset;
		/* The frame's size in words; not a multiple of a word: larger than any. */
		uint64_t height = (cfa - at->sp) >> shift | (cfa - at->sp) << (64 - shift);
		uint64_t saved, unsaved = at->fp;

		if (__builtin_expect(height < words || height > room, 0)) {
			at->code = code;
			return UW_RUN_STUCK;
		}
		room -= height;
		at->sp = cfa;
		at->ip = uw_word_at(bytes, cfa - word, word);
		saved = uw_word_at(bytes, cfa - words * word, word) - base;
		if (history) {
			at->note->fp = at->fp + base;
			at->note->slot = cfa + base - words * word;
			at->note->kind = UW_NOTE_STEP;
			at->note->zeros = 1;
			at->note->uses_fp = code->plain >> 7;
			at->note->in_order = false;
			at->note++;
		}
		/* No branch on saved registers: see restore_saved in step.c. */
		at->fp = words != UW_PLAIN_UNSAVED ? saved : unsaved;
		if (__builtin_expect(at->ip == 0, 0))
			return UW_RUN_NULL;
		code = uw_code_find_key(walk->space, walk->cache, at->ip, false, key,
					&walk->memory.effort);
		if (__builtin_expect(code->plain == UW_PLAIN_NOT || at->frame == end, 0)) {
			at->code = code;
			return UW_RUN_LEFT;
		}
		at->frame->ip = at->ip;
		at->frame->rva = code->rva;
		at->frame->function = code->rva - code->function;
		at->frame->sp = cfa + base;
		at->frame->tag = code->tag;
		at->frame->source = UW_SOURCE_CFI;
		at->frame->exact = false;
		at->frame++;
		if (history && uw_history_may_meet(history, cfa + base)) {
			at->code = code;
			return UW_RUN_MEET;
		}
	}
}

static enum uw_run run_word(struct uw_walk *walk, struct plain *at, struct uw_history *history)
{
	if (walk->machine->word == 8)
		return history ? run_plain(walk, at, history, 8) : run_plain(walk, at, NULL, 8);
	return history ? run_plain(walk, at, history, 4) : run_plain(walk, at, NULL, 4);
}

enum uw_run uw_walk_run_plain(struct uw_walk *walk, struct uw_history *history,
			      struct uw_note *notes)
{
	assert(uw_walk_is_plain(walk) && walk->count > 0 && !history == !notes);
	const uint64_t base = walk->memory.stack->base;
	struct uw_frame *first = walk->frames + walk->count;
	struct plain at = {.code = walk->code,
			   .ip = walk->ip,
			   .sp = walk->sp - base,
			   .fp = walk->fp - base,
			   .frame = first,
			   .note = notes};
	enum uw_run end = run_word(walk, &at, history);
	size_t written = (size_t)(at.frame - first);

	if (end == UW_RUN_STUCK && written == 0)
		return end;
	if (history && walk->exact)
		notes->kind = UW_NOTE_OTHER;
	if (history && end == UW_RUN_NULL && at.note[-1].kind == UW_NOTE_STEP) {
		at.note[-1].kind = UW_NOTE_END;
		at.note[-1].root = UW_ROOT_NULL;
		at.note[-1].slot = at.sp + base - walk->machine->word;
	}
	walk->count += written;
	walk->behind += written + (end == UW_RUN_LEFT);
	walk->code = at.code;
	walk->ip = at.ip;
	walk->sp = at.sp + base;
	walk->fp = at.fp + base;
	walk->exact = false;
	walk->source = UW_SOURCE_CFI;
	return end;
}
