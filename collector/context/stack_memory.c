#include "collector/context/stack_memory.h"

#include "collector/context/chain.h"
#include "collector/context/guess.h"
#include "collector/context/late.h"
#include "collector/context/walk_counts.h"
#include <assert.h>
#include <stddef.h>

bool stack_memory_remember(struct stack_memory *memory, struct tree *tree, bool collapse)
{
	assert(!memory->history == !memory->chain && !memory->history == !memory->guess);
	if (memory->history)
		return true;
	memory->history = uw_history_create();
	memory->chain = chain_create(tree, collapse);
	memory->guess = guess_create();
	if (memory->history && memory->chain && memory->guess)
		return true;
	stack_memory_forget(memory);
	return false;
}

struct chain *stack_memory_take(struct stack_memory *memory, uint64_t version,
				const struct uw_frame *frames, size_t count, size_t reused)
{
	guess_note(memory->guess, version, frames, count, reused);
	if (!chain_take(memory->chain, frames, count, reused, (struct chain_guessed){0}))
		stack_memory_forget(memory);
	return memory->chain;
}

void stack_memory_forget(struct stack_memory *memory)
{
	uw_history_destroy(memory->history);
	chain_destroy(memory->chain);
	guess_destroy(memory->guess);
	late_destroy(memory->late);
	memory->history = NULL;
	memory->chain = NULL;
	memory->guess = NULL;
	memory->late = NULL;
}

void stack_memory_begin_test(struct stack_memory *memory, const unsigned *trial)
{
	memory->trial = trial;
	stack_memory_settle(memory);
}

void stack_memory_settle(struct stack_memory *memory)
{
	if (!memory->trial || memory->tested == *memory->trial)
		return;
	walk_counts_forget_test(&memory->counts);
	memory->tested = *memory->trial;
}
