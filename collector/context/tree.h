/*
 * The calling-context tree: stacks interned into dense node ids. A frame is an (image, rva) pair; a
 * node is a (parent node, frame) pair; node 0 is the root. New frames and nodes go to the result
 * when first seen: memory is bounded by the distinct ones.
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

/* The tree's name for a frame. Frames in the same function have the same function; an unknown frame
 * (id PROFILE_NONE) shares its function with no other. */
struct tree_frame {
	uint32_t id;
	uint32_t function;
};

/* The frame; id is PROFILE_NONE when out of memory. function is the start address of the frame's
 * function in its image, 0: not known, and the frame is taken for a function. */
struct tree_frame tree_frame(struct tree *tree, const struct profile_frame *frame,
			     uint64_t function);

/* Prefetches memory for tree_frame: call before the first of several frames. */
void tree_prefetch_frame(const struct tree *tree, const struct profile_frame *frame);

/* The hash of a node, from its parent's and the id of its frame; the root's is 0. The parent itself
 * is not needed: the nodes of a stack can be prefetched all at once. */
uint32_t tree_hash(uint32_t parent_hash, uint32_t frame);

/* Prefetches memory for tree_child. */
void tree_prefetch_child(const struct tree *tree, uint32_t hash);

/* The node of a frame called from a node; PROFILE_NONE when out of memory, or for frame
 * PROFILE_NONE. hash is the node's own, by tree_hash. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame, uint32_t hash);

#endif
