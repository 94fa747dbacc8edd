/*
 * The calling-context tree: stacks interned into dense node ids. A frame is an (image, rva) pair; a
 * node is a (parent node, frame) pair; node 0 is the root. New frames and nodes go to the result
 * when they are first seen, so that memory is bounded by the distinct ones.
 */
#ifndef COLLECTOR_CONTEXT_TREE_H
#define COLLECTOR_CONTEXT_TREE_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;
struct tree;

/* emit is borrowed. NULL: out of memory. */
struct tree *tree_create(struct emit *emit);
void tree_destroy(struct tree *tree); /* accepts NULL */

/* What the tree knows a frame by. Frames in the same function have the same function; a frame that
 * is not known (id PROFILE_NONE) is in none of the others'. */
struct tree_frame {
	uint32_t id;
	uint32_t function;
};

/* The frame; id is PROFILE_NONE when out of memory. function is the address where the frame's
 * function starts in its image, 0: not known, and then the frame is taken for a function. */
struct tree_frame tree_frame(struct tree *tree, const struct profile_frame *frame,
			     uint64_t function);

/* Brings what tree_frame will look at closer: before the first of several frames. */
void tree_prefetch_frame(const struct tree *tree, const struct profile_frame *frame);

/* Where a node is looked for, from its parent's and the id of its frame; the root's is 0. It needs
 * no look at the parent, so that the nodes of a stack can be brought closer all at once. */
uint32_t tree_hash(uint32_t parent_hash, uint32_t frame);

/* Brings what tree_child will look at closer. */
void tree_prefetch_child(const struct tree *tree, uint32_t hash);

/* The node of a frame called from a node; PROFILE_NONE when out of memory, or frame is that. hash
 * is the node's own, by tree_hash. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame, uint32_t hash);

#endif
