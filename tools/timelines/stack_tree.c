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

/* In struct stack_leaf: a stack with guessed frames, or a cut one. Its callees' stacks are others.
 */
#define SEAMED (UINT32_C(1) << 31)

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
	const struct stack_step step = {parent, index,
					parent == PROFILE_NONE ? 1 : tree->steps[parent].depth + 1};
	const uint32_t identity[] = {parent, index};
	return index_map_enter(&tree->step_map, &tree->steps, &step, sizeof(step),
			       index_map_hash(&tree->step_map, identity, sizeof(identity)),
			       is_step);
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

/* The functions of a node, called from a step. Unknown ones in a row are one, as in call paths. */
static uint32_t enter_node(struct stack_tree *tree, uint32_t step, uint32_t node)
{
	uint32_t count;
	uint32_t frame = profile_reader_node(tree->reader, node)->frame;
	const uint32_t *of_frame = functions_of_frame(tree->functions, frame, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_element element = {of_frame[i],
						      tree->by_frame ? frame : PROFILE_NONE,
						      tree->by_frame ? i : 0};
		if (of_frame[i] > FUNCTION_GUESSED || step == PROFILE_NONE ||
		    tree->elements[tree->steps[step].element].function != of_frame[i])
			step = enter_step(tree, step, &element);
	}
	return step;
}

static bool is_guessed(const struct stack_tree *tree, uint32_t node)
{
	uint32_t frame = profile_reader_node(tree->reader, node)->frame;
	return profile_reader_frame(tree->reader, frame)->flags & PROFILE_FRAME_GUESSED;
}

/* Nodes of the path, the leaf first, up to one whose step is known (*known, else 0): false if the
 * stack has a seam inside, or is too deep. */
static bool collect_new_nodes(struct stack_tree *tree, const struct timeline_piece *piece,
			      size_t *count, uint32_t *known)
{
	struct call_path *path = &tree->call_path;
	uint32_t node = piece->node;
	*known = 0;
	for (*count = 0; node != 0; (*count)++) {
		uint32_t step_and_1 = tree->leaves[node].steps[piece->state];
		if (*count > 0 && step_and_1 != 0) {
			*known = step_and_1;
			return !(step_and_1 & SEAMED) &&
			       *count + tree->steps[step_and_1 - 1].depth < CALL_PATH_DEPTH_MAX;
		}
		if (*count == CALL_PATH_DEPTH_MAX)
			return false;
		xalloc_room(&path->nodes, &path->node_capacity, *count + 1, sizeof(*path->nodes));
		path->nodes[*count] = node;
		node = profile_reader_node(tree->reader, node)->parent;
	}
	return *count > 0 && !is_guessed(tree, path->nodes[*count - 1]);
}

/* Most stacks differ from others by their innermost frames alone: those of the callers are found
 * once, not with each of their callees. False: for enter_stack. */
static bool enter_nodes(struct stack_tree *tree, const struct timeline_piece *piece)
{
	size_t count;
	uint32_t step_and_1;
	if (tree->mode != CALL_PATH_ALL || piece->state == PROFILE_STACK_GUESSED ||
	    piece->node == TALLY_KERNEL || !collect_new_nodes(tree, piece, &count, &step_and_1))
		return false;
	uint32_t step = step_and_1 - 1; /* of none: PROFILE_NONE */
	static_assert(PROFILE_NONE == UINT32_MAX, "0 - 1 is no step");
	if (step == PROFILE_NONE && piece->state == PROFILE_STACK_SKIPPED)
		step = enter_step(tree, step,
				  &(struct stack_element){FUNCTION_SKIPPED, PROFILE_NONE, 0});
	while (count-- > 0) {
		uint32_t node = tree->call_path.nodes[count];
		step = enter_node(tree, step, node);
		tree->leaves[node].steps[piece->state] = step + 1;
	}
	return true;
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
	if (*step_and_1 == 0 && !enter_nodes(tree, piece))
		*step_and_1 = (enter_stack(tree, piece) + 1) | SEAMED;
	return (*step_and_1 & ~SEAMED) - 1;
}
