/*
 * The stacks of pieces of time as a tree: each function called from a stack of functions once. A
 * step's parent has a smaller index.
 */
#ifndef TOOLS_TIMELINES_STACK_TREE_H
#define TOOLS_TIMELINES_STACK_TREE_H

#include "profile/profile.h"
#include "tools/memory/index_map.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdbool.h>
#include <stdint.h>

struct timeline_piece;

/* A function at a place in the code. */
struct stack_element {
	uint32_t function; /* or, behind the result's, stack_tree_no_sample and the next one */
	uint32_t frame;    /* PROFILE_NONE: none, or not asked for */
	uint32_t depth;    /* of inlining in this frame: 0 is the outermost function */
};

struct stack_step {
	uint32_t parent; /* PROFILE_NONE: outermost */
	uint32_t element;
	uint32_t depth; /* 1: outermost */
};

/* By state of the piece: the step and 1, with a mark of its own; 0: not known. */
struct stack_leaf {
	uint32_t steps[PROFILE_STACK_NONE + 1];
};

struct stack_tree { /* begins with the first members set */
	const struct profile_reader *reader;
	const struct functions *functions;
	enum call_path_mode mode;
	bool by_frame; /* false: calls of a function from different places are one */
	struct stack_element *elements;
	struct index_map element_map;
	struct stack_step *steps;
	struct index_map step_map;
	struct stack_leaf *leaves; /* by node: stacks of pieces seen before */
	/* By state, of pieces without a node; likewise. Two states are timelines' own. */
	uint32_t nodeless[PROFILE_STACK_NONE + 3];
	struct call_path call_path; /* scratch */
};

void stack_tree_finish(struct stack_tree *tree);

/* The innermost step of the piece's stack. */
uint32_t stack_tree_enter(struct stack_tree *tree, const struct timeline_piece *piece);

uint32_t stack_tree_element_count(const struct stack_tree *tree);
uint32_t stack_tree_step_count(const struct stack_tree *tree);

/* The function of time in no sample; the next one is that of no known thread. Both are pieces
 * without a stack: stack_tree_name has names of all functions. */
uint32_t stack_tree_no_sample(const struct stack_tree *tree);
const char *stack_tree_name(const struct stack_tree *tree, uint32_t function);

#endif
