/*
 * The calling-context tree: stacks interned into dense node ids. A frame is an (image, rva) pair; a
 * node is a (parent node, frame) pair; node 0 is the root. New frames and nodes go to the result
 * when they are first seen, so that memory is bounded by the distinct ones.
 */
#ifndef COLLECTOR_TREE_H
#define COLLECTOR_TREE_H

#include "collector/emit.h"
#include "tbrw/profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;

/* emit is borrowed. NULL: out of memory. */
struct tree *tree_create(struct emit *emit);
void tree_destroy(struct tree *tree); /* accepts NULL */

/* The id of a frame; PROFILE_NONE when out of memory. */
uint32_t tree_frame(struct tree *tree, const struct profile_frame *frame);

/* The node of a stack of count frame ids, leaf first; PROFILE_NONE when out of memory. */
uint32_t tree_node(struct tree *tree, const uint32_t *frames, size_t count);

/*
 * Collapses recursion in place: of a cycle of 1 to 8 frames that repeats, the first and one
 * repetition stay (outermost ones; frames are leaf first). Returns the new count.
 */
size_t tree_collapse(uint32_t *frames, size_t count);

#endif
