#include "collector/tree.h"

#include <stdlib.h>

enum { INITIAL_CAPACITY = 1024 };

/* Open addressing over dense ids: a slot holds an id + 1, 0 is free. */
struct index {
	uint32_t *slots;
	size_t capacity; /* power of two */
};

struct frame {
	struct profile_frame out;
	uint32_t function; /* index in functions */
};

struct function {
	uint64_t start;
	uint32_t image;
	bool is_frame; /* start is the frame's own address: its function is not known */
};

struct tree {
	struct emit *emit;
	struct index frame_index;
	struct frame *frames;
	uint32_t frame_count;
	uint32_t frame_capacity;
	struct index function_index;
	struct function *functions;
	uint32_t function_count;
	uint32_t function_capacity;
	struct index node_index;
	struct profile_node *nodes;
	uint32_t node_count;
	uint32_t node_capacity;
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

static uint64_t hash_node(const struct profile_node *node)
{
	return mix((uint64_t)node->parent << 32 | node->frame);
}

struct tree *tree_create(struct emit *emit)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	if (tree == NULL)
		return NULL;
	tree->emit = emit;
	tree->node_count = 1; /* the root; it is in no index */
	tree->node_capacity = INITIAL_CAPACITY;
	tree->nodes = calloc(tree->node_capacity, sizeof(*tree->nodes));
	tree->frame_capacity = INITIAL_CAPACITY;
	tree->frames = calloc(tree->frame_capacity, sizeof(*tree->frames));
	tree->function_capacity = INITIAL_CAPACITY;
	tree->functions = calloc(tree->function_capacity, sizeof(*tree->functions));
	tree->node_index.capacity = tree->frame_index.capacity = tree->function_index.capacity =
		2 * INITIAL_CAPACITY;
	tree->node_index.slots = calloc(tree->node_index.capacity, sizeof(uint32_t));
	tree->frame_index.slots = calloc(tree->frame_index.capacity, sizeof(uint32_t));
	tree->function_index.slots = calloc(tree->function_index.capacity, sizeof(uint32_t));
	if (tree->nodes == NULL || tree->frames == NULL || tree->functions == NULL ||
	    tree->node_index.slots == NULL || tree->frame_index.slots == NULL ||
	    tree->function_index.slots == NULL) {
		tree_destroy(tree);
		return NULL;
	}
	return tree;
}

void tree_destroy(struct tree *tree)
{
	if (tree == NULL)
		return;
	free(tree->nodes);
	free(tree->frames);
	free(tree->functions);
	free(tree->node_index.slots);
	free(tree->frame_index.slots);
	free(tree->function_index.slots);
	free(tree);
}

static void insert(struct index *index, uint64_t hash, uint32_t id)
{
	size_t i = hash & (index->capacity - 1);
	while (index->slots[i] != 0)
		i = (i + 1) & (index->capacity - 1);
	index->slots[i] = id + 1;
}

/* Doubles an array and its index; the index keeps at least half of its slots free. */
static bool grow(void **items, size_t item_size, uint32_t *capacity, struct index *index)
{
	if (*capacity > UINT32_MAX / 4)
		return false;
	struct index larger = {.capacity = index->capacity * 2};
	void *more = realloc(*items, (size_t)*capacity * 2 * item_size);
	if (more == NULL)
		return false;
	*items = more;
	larger.slots = calloc(larger.capacity, sizeof(uint32_t));
	if (larger.slots == NULL)
		return false;
	free(index->slots);
	*index = larger;
	*capacity *= 2;
	return true;
}

static uint32_t find_or_add_function(struct tree *tree, const struct function *function)
{
	uint64_t hash = hash_function(function);
	size_t mask = tree->function_index.capacity - 1;
	for (size_t i = hash & mask; tree->function_index.slots[i] != 0; i = (i + 1) & mask) {
		uint32_t id = tree->function_index.slots[i] - 1;
		const struct function *known = &tree->functions[id];
		if (known->start == function->start && known->image == function->image &&
		    known->is_frame == function->is_frame)
			return id;
	}
	if (tree->function_count == tree->function_capacity) {
		void *items = tree->functions;
		bool grown = grow(&items, sizeof(*tree->functions), &tree->function_capacity,
				  &tree->function_index);
		tree->functions = items;
		if (!grown)
			return PROFILE_NONE;
		for (uint32_t id = 0; id < tree->function_count; id++)
			insert(&tree->function_index, hash_function(&tree->functions[id]), id);
	}
	uint32_t id = tree->function_count++;
	tree->functions[id] = *function;
	insert(&tree->function_index, hash, id);
	return id;
}

static uint32_t add_frame(struct tree *tree, const struct profile_frame *frame, uint64_t start,
			  uint64_t hash)
{
	struct function function = {start != 0 ? start : frame->rva, frame->image, start == 0};
	uint32_t function_id = find_or_add_function(tree, &function);
	if (function_id == PROFILE_NONE)
		return PROFILE_NONE;
	if (tree->frame_count == tree->frame_capacity) {
		void *items = tree->frames;
		bool grown = grow(&items, sizeof(*tree->frames), &tree->frame_capacity,
				  &tree->frame_index);
		tree->frames = items;
		if (!grown)
			return PROFILE_NONE;
		for (uint32_t id = 0; id < tree->frame_count; id++)
			insert(&tree->frame_index, hash_frame(&tree->frames[id].out), id);
	}
	uint32_t id = tree->frame_count++;
	tree->frames[id] = (struct frame){*frame, function_id};
	insert(&tree->frame_index, hash, id);
	emit_frame(tree->emit, frame);
	return id;
}

uint32_t tree_frame(struct tree *tree, const struct profile_frame *frame, uint64_t function)
{
	uint64_t hash = hash_frame(frame);
	size_t mask = tree->frame_index.capacity - 1;
	for (size_t i = hash & mask; tree->frame_index.slots[i] != 0; i = (i + 1) & mask) {
		uint32_t id = tree->frame_index.slots[i] - 1;
		const struct profile_frame *known = &tree->frames[id].out;
		if (known->rva == frame->rva && known->image == frame->image &&
		    known->flags == frame->flags)
			return id;
	}
	return add_frame(tree, frame, function, hash);
}

uint32_t tree_function(const struct tree *tree, uint32_t frame)
{
	return frame < tree->frame_count ? tree->frames[frame].function : PROFILE_NONE;
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame)
{
	struct profile_node node = {parent, frame};
	if (frame == PROFILE_NONE)
		return PROFILE_NONE;
	uint64_t hash = hash_node(&node);
	size_t mask = tree->node_index.capacity - 1;
	for (size_t i = hash & mask; tree->node_index.slots[i] != 0; i = (i + 1) & mask) {
		uint32_t id = tree->node_index.slots[i] - 1;
		if (tree->nodes[id].parent == node.parent && tree->nodes[id].frame == node.frame)
			return id;
	}
	if (tree->node_count == tree->node_capacity) {
		void *items = tree->nodes;
		bool grown =
			grow(&items, sizeof(*tree->nodes), &tree->node_capacity, &tree->node_index);
		tree->nodes = items;
		if (!grown)
			return PROFILE_NONE;
		for (uint32_t id = 1; id < tree->node_count; id++)
			insert(&tree->node_index, hash_node(&tree->nodes[id]), id);
	}
	uint32_t id = tree->node_count++;
	tree->nodes[id] = node;
	insert(&tree->node_index, hash, id);
	emit_node(tree->emit, &node);
	return id;
}
