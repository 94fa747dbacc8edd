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

/* The id of a frame; PROFILE_NONE when out of memory. function is the address where the frame's
 * function starts in its image, 0: not known, and then the frame is taken for a function. */
uint32_t tree_frame(struct tree *tree, const struct profile_frame *frame, uint64_t function);

/* Brings what tree_frame will look at closer: before the first of several frames. */
void tree_prefetch_frame(const struct tree *tree, const struct profile_frame *frame);

/* The function of a frame: the same number for all frames in it. Of PROFILE_NONE: one of its own.
 */
uint32_t tree_function(const struct tree *tree, uint32_t frame);

/* The node of a frame called from a node; PROFILE_NONE when out of memory, or frame is that. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame);

#endif
