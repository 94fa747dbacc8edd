/*
 * What the next stack of a thread can build on: its last complete one, as the walk's history, as
 * the chain of the same frames, and as the newest of those that guesses are made from. The three
 * hold the same stack, or none is there.
 */
#ifndef COLLECTOR_CONTEXT_STACK_MEMORY_H
#define COLLECTOR_CONTEXT_STACK_MEMORY_H

#include "profile/profile.h"
#include "unwind/unwind.h"
#include <stdbool.h>

struct chain;
struct guess;
struct tree;

/* Zeros before the first use. Does not move while it is linked. */
struct stack_memory {
	struct uw_history *history; /* NULL before the first walk */
	struct chain *chain;
	struct guess *guess;
	struct profile_unwinding counts; /* what the thread's stacks took */
	struct stack_memory *next;       /* in a list of those that guesses were tried on */
	struct stack_memory **link;      /* NULL: in none */
};

/* Makes history, chain and guess where they are not there yet. false: out of memory, none is. */
bool stack_memory_remember(struct stack_memory *memory, struct tree *tree, bool collapse);

/* A whole stack, leaf first, which the walk put into the history: the others hold it too from now
 * on. The last `reused` frames are those of the one before. version: of the process's mappings, as
 * guess_note has it. Returns the chain; NULL: out of memory, all is forgotten. */
struct chain *stack_memory_take(struct stack_memory *memory, uint64_t version,
				const struct uw_frame *frames, size_t count, size_t reused);

/* Frees them; the counts stay. */
void stack_memory_forget(struct stack_memory *memory);

/* Puts it into the list that starts at head, unless it is in it. */
void stack_memory_link(struct stack_memory *memory, struct stack_memory **head);
void stack_memory_unlink(struct stack_memory *memory);

/* Forgets and unlinks. */
void stack_memory_finish(struct stack_memory *memory);

#endif
