/*
 * The last complete stack of a thread, for its next one to build on: as the walk's history, as a
 * chain of the same frames, and as the newest stack for guesses. All three hold the same stack, or
 * none is there.
 */
#ifndef COLLECTOR_CONTEXT_STACK_MEMORY_H
#define COLLECTOR_CONTEXT_STACK_MEMORY_H

#include "profile/profile.h"
#include "unwind/unwind.h"
#include <stdbool.h>

struct chain;
struct guess;
struct late;
struct tree;

/* Zeros before the first use. */
struct stack_memory {
	struct uw_history *history; /* NULL before the first walk */
	struct chain *chain;
	struct guess *guess;
	struct late *late; /* NULL before the first copy that ended at an absent page */
	struct profile_unwinding counts; /* effort for the thread's stacks */
	/* Number of the kind of tests now, and at the last test in the counts; NULL: no guess was
	 * tested on the thread's stacks. */
	const unsigned *trial;
	unsigned tested;
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

/* Before a test of a guess is counted: *trial grows when guesses come to be tried in another way,
 * and lives as long as the memory is used. */
void stack_memory_begin_test(struct stack_memory *memory, const unsigned *trial);

/* Takes back the tests of another way than is tried now. Before the counts are read. */
void stack_memory_settle(struct stack_memory *memory);

#endif
