#include "tools/timelines/stack_tree.h"

#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/timelines/timelines.h"
#include <assert.h>
#include <stdlib.h>

void stack_tree_finish(struct stack_tree *tree)
{
	free(tree->elements);
	free(tree->steps);
	free(tree->leaves);
	index_map_finish(&tree->element_map);
	index_map_finish(&tree->step_map);
	call_path_finish(&tree->call_path);
}

uint32_t stack_tree_element_count(const struct stack_tree *tree)
{
	return index_map_count(&tree->element_map);
}

uint32_t stack_tree_step_count(const struct stack_tree *tree)
{
	return index_map_count(&tree->step_map);
}

uint32_t stack_tree_no_sample(const struct stack_tree *tree)
{
	return functions_count(tree->functions);
}

const char *stack_tree_name(const struct stack_tree *tree, uint32_t function)
{
	if (function < stack_tree_no_sample(tree))
		return functions_at(tree->functions, function)->name;
	return function == stack_tree_no_sample(tree) ? TALLY_NO_SAMPLE : TALLY_NO_THREAD;
}

static bool is_element(const void *item, const void *wanted)
{
	const struct stack_element *element = item;
	const struct stack_element *other = wanted;
	return element->function == other->function && element->frame == other->frame &&
	       element->depth == other->depth;
}

static bool is_step(const void *item, const void *wanted)
{
	const struct stack_step *step = item;
	const struct stack_step *other = wanted;
	return step->parent == other->parent && step->element == other->element;
}

static uint32_t enter_step(struct stack_tree *tree, uint32_t parent,
			   const struct stack_element *element)
{
	uint32_t index =
		index_map_enter(&tree->element_map, &tree->elements, element, sizeof(*element),
				index_map_hash(&tree->element_map, element, sizeof(*element)),
				is_element);
	const struct stack_step step = {parent, index};
	return index_map_enter(&tree->step_map, &tree->steps, &step, sizeof(step),
			       index_map_hash(&tree->step_map, &step, sizeof(step)), is_step);
}

/* Of a function of the path: how many functions of the same frame stand before it. The frame may be
 * there twice in a row, in a recursion. */
static uint32_t find_depth(const struct stack_tree *tree, size_t index, uint32_t depth_before)
{
	const uint32_t *frames = tree->call_path.frames;
	uint32_t count;
	if (index == 0 || frames[index] == PROFILE_NONE || frames[index] != frames[index - 1])
		return 0;
	functions_of_frame(tree->functions, frames[index], &count);
	return depth_before + 1 < count ? depth_before + 1 : 0;
}

static uint32_t enter_path(struct stack_tree *tree)
{
	const struct call_path *path = &tree->call_path;
	uint32_t step = PROFILE_NONE;
	uint32_t depth = 0;
	for (size_t i = 0; i < path->count; i++) {
		depth = find_depth(tree, i, depth);
		const struct stack_element element = {path->functions[i],
						      tree->by_frame ? path->frames[i]
								     : PROFILE_NONE,
						      tree->by_frame ? depth : 0};
		step = enter_step(tree, step, &element);
	}
	return step;
}

static uint32_t enter_stack(struct stack_tree *tree, const struct timeline_piece *piece)
{
	if (piece->state >= TIMELINE_NO_SAMPLE) {
		const struct stack_element element = {stack_tree_no_sample(tree) +
							      (piece->state - TIMELINE_NO_SAMPLE),
						      PROFILE_NONE, 0};
		return enter_step(tree, PROFILE_NONE, &element);
	}
	call_path_of_stack(&tree->call_path, tree->reader, tree->functions, piece->node,
			   piece->state, tree->mode);
	return enter_path(tree);
}

uint32_t stack_tree_enter(struct stack_tree *tree, const struct timeline_piece *piece)
{
	if (!tree->leaves)
		tree->leaves = xalloc_zeroed(profile_reader_node_count(tree->reader),
					     sizeof(*tree->leaves));
	static_assert(sizeof(tree->nodeless) / sizeof(tree->nodeless[0]) > TIMELINE_NO_THREAD,
		      "each state has a step");
	uint32_t *step_and_1 = piece->node == TALLY_KERNEL
				       ? &tree->nodeless[piece->state]
				       : &tree->leaves[piece->node].steps[piece->state];
	if (*step_and_1 == 0)
		*step_and_1 = enter_stack(tree, piece) + 1;
	return *step_and_1 - 1;
}
