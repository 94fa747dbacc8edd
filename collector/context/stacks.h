/*
 * The stack of a thread becomes a node of the calling-context tree: walked from registers and a
 * copy of the stack, with what the thread's last stack left, and guessed beyond the copy where its
 * whole stacks leave no doubt (guess.h). It needs no sample: whoever has registers and a copy may
 * ask.
 */
#ifndef COLLECTOR_CONTEXT_STACKS_H
#define COLLECTOR_CONTEXT_STACKS_H

#include "collector/context/stack_memory.h"
#include "profile/profile.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;
struct stacks;

/* collapse: recursion, as chain_create says. emit is borrowed. NULL: out of memory. */
struct stacks *stacks_create(struct emit *emit, bool collapse);
void stacks_destroy(struct stacks *stacks); /* accepts NULL; after all threads have ended */

enum { STACK_INNER_MAX = 256 };

/* Where a stack comes from. All is borrowed for the call. */
struct stack_source {
	struct uw_space *space;      /* NULL: there was no memory for one */
	struct stack_memory *memory; /* of the thread */
	uint64_t map_version;        /* of the process: with another one than before, what was
				      * remembered of the thread's guesses is forgotten */
	const struct uw_regs *regs;
	const struct uw_stack *copy;
	bool is_32bit;
	bool has_gaps; /* the copy has some, where pages were not in memory */
	/* Frames further in than the user's (the kernel's), innermost first: STACK_INNER_MAX at
	 * most. */
	const struct profile_frame *inner;
	size_t inner_count;
};

/* How much of the user's part is wanted. */
enum stack_extent {
	STACK_NO_USER, /* none: regs and copy may be NULL */
	STACK_LEAF,    /* the address in the registers; copy may be NULL */
	STACK_WALKED
};

/*
 * Fills in stack: its node, how many frames are collapsed; where it was walked, its state, the
 * reason why it ended, and what was guessed. What the caller said of a stack that is not walked
 * stays. Without memory the stack is skipped, with its weight.
 */
void stacks_node(struct stacks *stacks, const struct stack_source *source, enum stack_extent extent,
		 struct profile_stack *stack);

/* Walks a stack for what it tells of those that follow, and nothing else: a deep copy, which is
 * larger than those that nodes are made of. */
void stacks_learn(struct stacks *stacks, const struct stack_source *source);

/* Writes what walking took. */
void stacks_emit(const struct stacks *stacks);

#endif
