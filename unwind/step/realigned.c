#include "unwind/step/realigned.h"

#include "unwind/frame/machine.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/step/cfa.h"
#include "unwind/step/step.h"

enum uw_step uw_step_realigned(const struct uw_machine *machine, const struct uw_code *code,
			       const struct uw_saved *saved, struct uw_state *state,
			       struct uw_memory *memory)
{
	const uint64_t sp = state->reg[machine->sp], fp = state->reg[machine->fp];
	const uint8_t word = machine->word;
	const struct uw_state frame = {.exact = state->exact};
	uint64_t cfa, ra = 0;

	if (!uw_state_knows(state, machine->fp))
		return UW_STEP_BAD;
	if (!uw_memory_read_sized(memory,
				  uw_word_wrap(fp + (uint64_t)(int64_t)code->cfa_offset, word),
				  word, &cfa))
		return UW_STEP_READ;
	enum uw_step step = uw_cfa_read_return(memory, state->exact, sp, cfa, true, word, &ra);
	if (step != UW_STEP_OK)
		return step;
	for (unsigned i = 0; i < machine->saved_count; i++) {
		int64_t offset = (int64_t)saved->slot[i] * word;

		if (offset != 0 || i == UW_SAVED_FP)
			uw_state_restore(state, &frame, memory, sp, cfa, machine->saved[i],
					 uw_word_wrap(fp + (uint64_t)offset, word), word);
	}
	return uw_state_return(machine, state, cfa, ra);
}

/* Whether a word lies between two addresses. */
static bool word_is_inside(uint64_t at, uint64_t from, uint64_t to, uint8_t word)
{
	return at >= from && at < to && to - at >= word;
}

bool uw_realigned_follow(const struct uw_machine *machine, const struct uw_code *code,
			 const struct uw_stack *stack, struct uw_pointers *frame)
{
	const uint64_t base = stack->base, end = base + stack->size;
	const uint64_t slot = frame->fp + (uint64_t)(int64_t)code->cfa_offset;
	const uint8_t word = machine->word;

	if (end < base || uw_word_wrap(end, word) != end || frame->sp < base ||
	    !word_is_inside(slot, frame->sp, end, word))
		return false;
	uint64_t cfa = uw_word_at(stack->bytes, slot - base, word);
	if (cfa % word != 0 || cfa <= frame->sp || cfa > end ||
	    !word_is_inside(slot, frame->sp, cfa - word, word) ||
	    !word_is_inside(frame->fp, frame->sp, cfa - word, word))
		return false;
	uint64_t ra = uw_word_at(stack->bytes, cfa - word - base, word);
	if (ra == 0)
		return false;
	*frame = (struct uw_pointers){ra, cfa, uw_word_at(stack->bytes, frame->fp - base, word)};
	return true;
}
