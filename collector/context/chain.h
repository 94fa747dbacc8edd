/*
 * One stack on its way into the calling-context tree: frames are pushed from the outermost inwards,
 * recursion collapses as it appears, and the result is the stack's node. A chain keeps its stack:
 * for the next stack only the differing frames are pushed. 32 bytes a frame.
 */
#ifndef COLLECTOR_CONTEXT_CHAIN_H
#define COLLECTOR_CONTEXT_CHAIN_H

#include "collector/context/tree.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain;

/*
 * An empty chain into tree (borrowed). collapse: of a repeated cycle of 1 to 8 functions, the
 * outermost cycle and the innermost one stay: calls into the recursion and out of it keep their
 * places. NULL: out of memory.
 */
struct chain *chain_create(struct tree *tree, bool collapse);
void chain_destroy(struct chain *chain); /* accepts NULL */

/* Drops all but the outermost `count` pushed frames. */
void chain_keep(struct chain *chain, size_t count);

/* Adds the next frame inwards. false: out of memory, the chain is unchanged. */
bool chain_push(struct chain *chain, struct tree_frame frame);

/* Of the frames of a stack that are not verified. */
struct chain_guessed {
	size_t count;   /* the stack's last ones */
	uint32_t flags; /* PROFILE_FRAME_GUESSED, or that and PROFILE_FRAME_LATE */
};

/* Replaces the chain's stack by a stack of user code, leaf first. Its last `kept` frames are the
 * chain's outermost ones already. false: out of memory, the chain holds some of the frames. */
bool chain_take(struct chain *chain, const struct uw_frame *frames, size_t count, size_t kept,
		struct chain_guessed guessed);

/* The node of the pushed frames; PROFILE_NONE when out of memory. */
uint32_t chain_node(struct chain *chain);

/* The number of pushed frames that are collapsed. */
size_t chain_collapsed(const struct chain *chain);

#endif
