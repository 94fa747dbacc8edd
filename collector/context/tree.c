#include "collector/context/tree.h"

#include "collector/result/emit.h"
#include <stdlib.h>

enum { INITIAL_CAPACITY = 2048 };

/* Open addressing, with the keys in the slots: in a large tree each lookup waits for memory, and
 * so waits once. Capacities are powers of two; at most half of the slots are used. */
struct frame_slot {
	struct profile_frame frame;
	uint32_t id; /* + 1; 0: free */
	uint32_t function;
};

struct node_slot {
	struct profile_node node;
	uint32_t id; /* 0: free, for the root is in no slot */
	uint32_t hash;
};

struct function {
	uint64_t start;
	uint32_t image;
	bool is_frame; /* start is the frame's own address: its function is not known */
};

struct function_slot {
	struct function function;
	uint32_t id; /* + 1; 0: free */
};

struct tree {
	struct emit *emit;
	struct frame_slot *frames;
	size_t frame_capacity;
	uint32_t frame_count;
	struct node_slot *nodes;
	size_t node_capacity;
	uint32_t node_count; /* with the root */
	struct function_slot *functions;
	size_t function_capacity;
	uint32_t function_count;
};

static uint64_t mix(uint64_t value)
{
	/* Multiply and fold: all input bits reach the low ones. */
	unsigned __int128 product = (unsigned __int128)value * 0x9e3779b97f4a7c15ull;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_frame(const struct profile_frame *frame)
{
	return mix(frame->rva ^ mix((uint64_t)frame->image << 32 | frame->flags));
}

static uint64_t hash_function(const struct function *function)
{
	return mix(function->start ^ mix((uint64_t)function->image << 1 | function->is_frame));
}

uint32_t tree_hash(uint32_t parent_hash, uint32_t frame)
{
	return (uint32_t)(mix((uint64_t)parent_hash << 32 | frame) >> 32);
}

struct tree *tree_create(struct emit *emit)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	if (!tree)
		return NULL;
	tree->emit = emit;
	tree->node_count = 1;
	tree->frame_capacity = tree->node_capacity = tree->function_capacity = INITIAL_CAPACITY;
	tree->frames = calloc(INITIAL_CAPACITY, sizeof(*tree->frames));
	tree->nodes = calloc(INITIAL_CAPACITY, sizeof(*tree->nodes));
	tree->functions = calloc(INITIAL_CAPACITY, sizeof(*tree->functions));
	if (!tree->frames || !tree->nodes || !tree->functions) {
		tree_destroy(tree);
		return NULL;
	}
	return tree;
}

void tree_destroy(struct tree *tree)
{
	if (!tree)
		return;
	free(tree->frames);
	free(tree->nodes);
	free(tree->functions);
	free(tree);
}

/* Whether one more of count entries needs more slots, and there may be more. */
static bool is_full(uint32_t count, size_t capacity)
{
	return count >= capacity / 2;
}

static bool may_grow(size_t capacity)
{
	return capacity <= UINT32_MAX / 4;
}

/* The slot that has the key, or the free one where it belongs. */
static struct function_slot *find_function(struct function_slot *slots, size_t capacity,
					   const struct function *function)
{
	size_t i = hash_function(function) & (capacity - 1);
	while (slots[i].id != 0 && (slots[i].function.start != function->start ||
				    slots[i].function.image != function->image ||
				    slots[i].function.is_frame != function->is_frame))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow_functions(struct tree *tree)
{
	size_t capacity = tree->function_capacity * 2;
	struct function_slot *slots = may_grow(capacity) ? calloc(capacity, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; i < tree->function_capacity; i++)
		if (tree->functions[i].id != 0)
			*find_function(slots, capacity, &tree->functions[i].function) =
				tree->functions[i];
	free(tree->functions);
	tree->functions = slots;
	tree->function_capacity = capacity;
	return true;
}

static uint32_t find_or_add_function(struct tree *tree, const struct function *function)
{
	if (is_full(tree->function_count, tree->function_capacity) && !grow_functions(tree))
		return PROFILE_NONE;
	struct function_slot *slot =
		find_function(tree->functions, tree->function_capacity, function);
	if (slot->id == 0)
		*slot = (struct function_slot){*function, ++tree->function_count};
	return slot->id - 1;
}

static struct frame_slot *find_frame(struct frame_slot *slots, size_t capacity,
				     const struct profile_frame *frame)
{
	size_t i = hash_frame(frame) & (capacity - 1);
	while (slots[i].id != 0 &&
	       (slots[i].frame.rva != frame->rva || slots[i].frame.image != frame->image ||
		slots[i].frame.flags != frame->flags))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow_frames(struct tree *tree)
{
	size_t capacity = tree->frame_capacity * 2;
	struct frame_slot *slots = may_grow(capacity) ? calloc(capacity, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; i < tree->frame_capacity; i++)
		if (tree->frames[i].id != 0)
			*find_frame(slots, capacity, &tree->frames[i].frame) = tree->frames[i];
	free(tree->frames);
	tree->frames = slots;
	tree->frame_capacity = capacity;
	return true;
}

static struct tree_frame add_frame(struct tree *tree, const struct profile_frame *frame,
				   uint64_t start)
{
	struct function function = {start != 0 ? start : frame->rva, frame->image, start == 0};
	uint32_t function_id = find_or_add_function(tree, &function);
	if (function_id == PROFILE_NONE ||
	    (is_full(tree->frame_count, tree->frame_capacity) && !grow_frames(tree)))
		return (struct tree_frame){PROFILE_NONE, PROFILE_NONE};
	uint32_t id = tree->frame_count++;
	*find_frame(tree->frames, tree->frame_capacity, frame) =
		(struct frame_slot){*frame, id + 1, function_id};
	emit_frame(tree->emit, frame);
	return (struct tree_frame){id, function_id};
}

struct tree_frame tree_frame(struct tree *tree, const struct profile_frame *frame,
			     uint64_t function)
{
	const struct frame_slot *slot = find_frame(tree->frames, tree->frame_capacity, frame);
	if (slot->id == 0)
		return add_frame(tree, frame, function);
	return (struct tree_frame){slot->id - 1, slot->function};
}

void tree_prefetch_frame(const struct tree *tree, const struct profile_frame *frame)
{
	__builtin_prefetch(&tree->frames[hash_frame(frame) & (tree->frame_capacity - 1)]);
}

static struct node_slot *find_node(struct node_slot *slots, size_t capacity,
				   const struct profile_node *node, uint32_t hash)
{
	size_t i = hash & (capacity - 1);
	while (slots[i].id != 0 &&
	       (slots[i].node.parent != node->parent || slots[i].node.frame != node->frame))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow_nodes(struct tree *tree)
{
	size_t capacity = tree->node_capacity * 2;
	struct node_slot *slots = may_grow(capacity) ? calloc(capacity, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; i < tree->node_capacity; i++) {
		const struct node_slot *slot = &tree->nodes[i];
		if (slot->id != 0)
			*find_node(slots, capacity, &slot->node, slot->hash) = *slot;
	}
	free(tree->nodes);
	tree->nodes = slots;
	tree->node_capacity = capacity;
	return true;
}

void tree_prefetch_child(const struct tree *tree, uint32_t hash)
{
	__builtin_prefetch(&tree->nodes[hash & (tree->node_capacity - 1)]);
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame, uint32_t hash)
{
	const struct profile_node node = {parent, frame};
	if (frame == PROFILE_NONE)
		return PROFILE_NONE;
	struct node_slot *slot = find_node(tree->nodes, tree->node_capacity, &node, hash);
	if (slot->id != 0)
		return slot->id;
	if (is_full(tree->node_count, tree->node_capacity)) {
		if (!grow_nodes(tree))
			return PROFILE_NONE;
		slot = find_node(tree->nodes, tree->node_capacity, &node, hash);
	}
	*slot = (struct node_slot){node, tree->node_count++, hash};
	emit_node(tree->emit, &node);
	return slot->id;
}
