#include "collector/context/stack_memory.h"

#include "collector/context/chain.h"
#include "collector/context/guess.h"
#include <stddef.h>

bool stack_memory_remember(struct stack_memory *memory, struct tree *tree, bool collapse)
{
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
	if (!chain_take(memory->chain, frames, count, reused, 0))
		stack_memory_forget(memory);
	return memory->chain;
}

void stack_memory_forget(struct stack_memory *memory)
{
	uw_history_destroy(memory->history);
	chain_destroy(memory->chain);
	guess_destroy(memory->guess);
	memory->history = NULL;
	memory->chain = NULL;
	memory->guess = NULL;
}

void stack_memory_link(struct stack_memory *memory, struct stack_memory **head)
{
	if (memory->link)
		return;
	memory->next = *head;
	memory->link = head;
	if (memory->next)
		memory->next->link = &memory->next;
	*head = memory;
}

void stack_memory_unlink(struct stack_memory *memory)
{
	if (!memory->link)
		return;
	*memory->link = memory->next;
	if (memory->next)
		memory->next->link = memory->link;
	memory->link = NULL;
	memory->next = NULL;
}

void stack_memory_finish(struct stack_memory *memory)
{
	stack_memory_forget(memory);
	stack_memory_unlink(memory);
}
