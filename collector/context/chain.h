/*
 * One stack on its way into the calling-context tree: frames are pushed from the outermost inwards,
 * recursion collapses as it appears, and the stack's node comes out. A chain keeps its stack, so
 * that of the next one only the frames that differ have to be pushed: 32 bytes a frame.
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
 * An empty chain into tree, which is borrowed. collapse: of a cycle of 1 to 8 functions that
 * repeats, the outermost cycle and the innermost one stay, so that the calls into the recursion and
 * out of it keep their places. NULL: out of memory.
 */
struct chain *chain_create(struct tree *tree, bool collapse);
void chain_destroy(struct chain *chain); /* accepts NULL */

/* Drops all but the outermost `count` of the frames that were pushed. */
void chain_keep(struct chain *chain, size_t count);

/* Adds the next frame inwards. false: out of memory, the chain is unchanged. */
bool chain_push(struct chain *chain, struct tree_frame frame);

/* Has the chain hold a stack of user code, leaf first, of which the last `guessed` frames are not
 * verified, and the last `kept` are the outermost ones that it holds already. false: out of memory,
 * it holds some of them. */
bool chain_take(struct chain *chain, const struct uw_frame *frames, size_t count, size_t kept,
		size_t guessed);

/* The node of what was pushed; PROFILE_NONE when out of memory. */
uint32_t chain_node(struct chain *chain);

/* How many of the frames that were pushed are collapsed. */
size_t chain_collapsed(const struct chain *chain);

#endif
