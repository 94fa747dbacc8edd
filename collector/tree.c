#include "collector/tree.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_CAPACITY = 1024, PERIOD_MAX = 8 };

/* Open addressing over dense ids: a slot holds an id + 1, 0 is free. */
struct index {
	uint32_t *slots;
	size_t capacity; /* power of two */
};

struct tree {
	struct emit *emit;
	struct index frame_index;
	struct profile_frame *frames;
	uint32_t frame_count;
	uint32_t frame_capacity;
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
	tree->node_index.capacity = tree->frame_index.capacity = 2 * INITIAL_CAPACITY;
	tree->node_index.slots = calloc(tree->node_index.capacity, sizeof(uint32_t));
	tree->frame_index.slots = calloc(tree->frame_index.capacity, sizeof(uint32_t));
	if (tree->nodes == NULL || tree->frames == NULL || tree->node_index.slots == NULL ||
	    tree->frame_index.slots == NULL) {
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
	free(tree->node_index.slots);
	free(tree->frame_index.slots);
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

uint32_t tree_frame(struct tree *tree, const struct profile_frame *frame)
{
	uint64_t hash = hash_frame(frame);
	size_t mask = tree->frame_index.capacity - 1;
	for (size_t i = hash & mask; tree->frame_index.slots[i] != 0; i = (i + 1) & mask) {
		uint32_t id = tree->frame_index.slots[i] - 1;
		const struct profile_frame *known = &tree->frames[id];
		if (known->rva == frame->rva && known->image == frame->image &&
		    known->flags == frame->flags)
			return id;
	}
	if (tree->frame_count == tree->frame_capacity) {
		void *items = tree->frames;
		bool grown = grow(&items, sizeof(*tree->frames), &tree->frame_capacity,
				  &tree->frame_index);
		tree->frames = items;
		if (!grown)
			return PROFILE_NONE;
		for (uint32_t id = 0; id < tree->frame_count; id++)
			insert(&tree->frame_index, hash_frame(&tree->frames[id]), id);
	}
	uint32_t id = tree->frame_count++;
	tree->frames[id] = *frame;
	insert(&tree->frame_index, hash, id);
	emit_frame(tree->emit, frame);
	return id;
}

static uint32_t find_or_add_node(struct tree *tree, const struct profile_node *node)
{
	uint64_t hash = hash_node(node);
	size_t mask = tree->node_index.capacity - 1;
	for (size_t i = hash & mask; tree->node_index.slots[i] != 0; i = (i + 1) & mask) {
		uint32_t id = tree->node_index.slots[i] - 1;
		if (tree->nodes[id].parent == node->parent && tree->nodes[id].frame == node->frame)
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
	tree->nodes[id] = *node;
	insert(&tree->node_index, hash, id);
	emit_node(tree->emit, node);
	return id;
}

uint32_t tree_node(struct tree *tree, const uint32_t *frames, size_t count)
{
	uint32_t node = 0;
	for (size_t i = count; i > 0 && node != PROFILE_NONE; i--) {
		struct profile_node child = {node, frames[i - 1]};
		node = find_or_add_node(tree, &child);
	}
	return node;
}

/* Whether the stack, of which the first `kept` frames are in root-first order, ends in three equal
 * cycles of the given period. */
static bool ends_in_cycles(const uint32_t *kept, size_t count, size_t period)
{
	if (count < 3 * period || kept[count - 1] != kept[count - 1 - period])
		return false;
	const uint32_t *end = kept + count;
	size_t bytes = period * sizeof(*kept);
	return memcmp(end - period, end - 2 * period, bytes) == 0 &&
	       memcmp(end - period, end - 3 * period, bytes) == 0;
}

static void reverse(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t frame = frames[i];
		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

size_t tree_collapse(uint32_t *frames, size_t count)
{
	size_t kept = 0;
	reverse(frames, count);
	for (size_t i = 0; i < count; i++) {
		frames[kept++] = frames[i];
		for (size_t period = 1; period <= PERIOD_MAX; period++) {
			if (ends_in_cycles(frames, kept, period)) {
				kept -= period;
				break;
			}
		}
	}
	reverse(frames, kept);
	return kept;
}
