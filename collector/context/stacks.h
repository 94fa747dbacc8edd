/*
 * Turns a thread's stack into a node of the calling-context tree. The stack is walked from
 * registers and a copy, with the memory of the thread's last stack. Beyond the copy it is read from
 * the target (late.h), or guessed where whole stacks leave no doubt (guess.h). Needs registers and
 * a copy, not a sample.
 */
#ifndef COLLECTOR_CONTEXT_STACKS_H
#define COLLECTOR_CONTEXT_STACKS_H

#include "collector/context/late.h"
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

/* A stack of user code that somebody else walked. */
struct stack_chain {
	const uint64_t *addresses; /* innermost first, callers as return addresses; not 0 of them */
	size_t count;
	size_t guessed; /* its outermost ones, not verified */
	bool is_cut;    /* known to lack callers */
	bool is_whole;  /* known to lack none; neither: nothing is known */
};

/* A stack's registers, copy and surroundings. All is borrowed for the call. */
struct stack_origin {
	struct uw_space *space; /* NULL: there was no memory for one */
	/* Of the thread. NULL: nothing is remembered or guessed, and the walk is not counted, since
	 * the stack is none of a sample. */
	struct stack_memory *memory;
	uint64_t map_version; /* of the process: a new version forgets the thread's guesses */
	const struct uw_regs *regs;
	uint64_t ip; /* of regs */
	const struct uw_stack *copy;
	const struct uw_stack *outer; /* the stack that a signal interrupted; NULL: none */
	bool has_gaps;                /* some pages of the copy were not in memory */
	uint64_t sampled_ns;          /* CLOCK_MONOTONIC_RAW */
	/* For stacks whose copy ended at a page that was not in memory. NULL: such a rest is not
	 * read. */
	const struct late_reader *reader;
	struct stack_chain chain; /* of STACK_GIVEN */
	/* Frames further in than the user's (the kernel's), innermost first: STACK_INNER_MAX at
	 * most. */
	const struct profile_frame *inner;
	size_t inner_count;
};

/* The wanted extent of the user's part. */
enum stack_extent {
	STACK_NO_USER, /* none: regs and copy may be NULL */
	STACK_LEAF,    /* the address ip; regs and copy may be NULL */
	STACK_WALKED,
	STACK_GIVEN /* the addresses of chain; regs and copy may be NULL */
};

/*
 * Fills in stack: its node and number of collapsed frames; of a walked or given one also its state,
 * the reason for its end, and the guess. For any other stack the caller's state stays. Without
 * memory the stack is skipped, with its weight.
 */
void stacks_node(struct stacks *stacks, const struct stack_origin *source, enum stack_extent extent,
		 struct profile_stack *stack);

/* The node right below the root of a variable at an address of an image; 0: out of memory. */
uint32_t stacks_data_node(struct stacks *stacks, uint32_t image, uint64_t rva);

/* Walks a deep copy only to learn from it for later stacks: it is larger than the copies that
 * become nodes. */
void stacks_learn(struct stacks *stacks, const struct stack_origin *source);

/* Writes the counts of walking. */
void stacks_emit(const struct stacks *stacks);

#endif
