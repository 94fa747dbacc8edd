#include "collector/context/tree.h"

#include "collector/result/emit.h"
#include "containers/hash.h"
#include "containers/hash_table.h"
#include <assert.h>
#include <stdlib.h>

/* With the keys in the slots: in a large tree each lookup waits for memory, and so waits once. */
struct frame_slot {
	struct hash_slot head; /* number: the frame's id + 1 */
	struct profile_frame frame;
	uint32_t function;
};

struct node_slot {
	struct hash_slot head; /* number: the node's id, for the root is in no slot */
	struct profile_node node;
};

struct function {
	uint64_t start;
	uint32_t image;
	bool is_frame; /* start is the frame's own address: its function is not known */
};

struct function_slot {
	struct hash_slot head; /* number: the function's id + 1 */
	struct function function;
};

struct tree {
	struct emit *emit;
	uint64_t key; /* drawn: the profiled program chooses addresses */
	struct hash_table frames;
	struct hash_table nodes;
	struct hash_table functions;
};

static uint64_t mix(uint64_t value)
{
	/* Multiply and fold: all input bits reach the low ones. */
	unsigned __int128 product = (unsigned __int128)value * 0x9e3779b97f4a7c15ull;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_frame(const struct tree *tree, const struct profile_frame *frame)
{
	return mix(frame->rva ^ tree->key ^ mix((uint64_t)frame->image << 32 | frame->flags));
}

static uint64_t hash_function(const struct tree *tree, const struct function *function)
{
	return mix(function->start ^ tree->key ^
		   mix((uint64_t)function->image << 1 | function->is_frame));
}

uint32_t tree_hash(uint32_t parent_hash, uint32_t frame)
{
	return (uint32_t)(mix((uint64_t)parent_hash << 32 | frame) >> 32);
}

static inline bool is_frame(const void *slot, const void *key)
{
	const struct profile_frame *left = &((const struct frame_slot *)slot)->frame;
	const struct profile_frame *right = key;
	return left->rva == right->rva && left->image == right->image &&
	       left->flags == right->flags;
}

static inline bool is_node(const void *slot, const void *key)
{
	const struct profile_node *left = &((const struct node_slot *)slot)->node;
	const struct profile_node *right = key;
	return left->parent == right->parent && left->frame == right->frame;
}

static inline bool is_function(const void *slot, const void *key)
{
	const struct function *left = &((const struct function_slot *)slot)->function;
	const struct function *right = key;
	return left->start == right->start && left->image == right->image &&
	       left->is_frame == right->is_frame;
}

struct tree *tree_create(struct emit *emit)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	if (!tree)
		return NULL;
	tree->emit = emit;
	tree->key = hash_key_draw().words[0];
	return tree;
}

void tree_destroy(struct tree *tree)
{
	if (!tree)
		return;
	hash_table_finish(&tree->frames);
	hash_table_finish(&tree->nodes);
	hash_table_finish(&tree->functions);
	free(tree);
}

/* The function's id; PROFILE_NONE: out of memory. */
static uint32_t find_or_add_function(struct tree *tree, const struct function *function)
{
	uint64_t hash = hash_function(tree, function);
	struct function_slot *slot =
		hash_table_find(&tree->functions, sizeof(*slot), hash, is_function, function);
	if (!slot) {
		slot = hash_table_add(&tree->functions, sizeof(*slot), hash);
		if (!slot)
			return PROFILE_NONE;
		slot->function = *function;
	}
	return slot->head.number - 1;
}

static struct tree_frame add_frame(struct tree *tree, const struct profile_frame *frame,
				   uint64_t hash, uint64_t start)
{
	struct function function = {start != 0 ? start : frame->rva, frame->image, start == 0};
	uint32_t id = find_or_add_function(tree, &function);
	struct frame_slot *slot = NULL;
	if (id != PROFILE_NONE)
		slot = hash_table_add(&tree->frames, sizeof(*slot), hash);
	if (!slot)
		return (struct tree_frame){PROFILE_NONE, PROFILE_NONE};
	slot->frame = *frame;
	slot->function = id;
	emit_frame(tree->emit, frame);
	return (struct tree_frame){slot->head.number - 1, id};
}

struct tree_frame tree_frame(struct tree *tree, const struct profile_frame *frame,
			     uint64_t function)
{
	uint64_t hash = hash_frame(tree, frame);
	const struct frame_slot *slot =
		hash_table_find(&tree->frames, sizeof(*slot), hash, is_frame, frame);
	if (!slot)
		return add_frame(tree, frame, hash, function);
	return (struct tree_frame){slot->head.number - 1, slot->function};
}

void tree_prefetch_frame(const struct tree *tree, const struct profile_frame *frame)
{
	hash_table_prefetch(&tree->frames, sizeof(struct frame_slot), hash_frame(tree, frame));
}

void tree_prefetch_child(const struct tree *tree, uint32_t hash)
{
	hash_table_prefetch(&tree->nodes, sizeof(struct node_slot), hash);
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame, uint32_t hash)
{
	const struct profile_node node = {parent, frame};
	if (frame == PROFILE_NONE)
		return PROFILE_NONE;
	struct node_slot *slot = hash_table_find(&tree->nodes, sizeof(*slot), hash, is_node, &node);
	if (slot)
		return slot->head.number;
	assert(parent <= tree->nodes.count && frame < tree->frames.count);
	slot = hash_table_add(&tree->nodes, sizeof(*slot), hash);
	if (!slot)
		return PROFILE_NONE;
	slot->node = node;
	emit_node(tree->emit, &node);
	return slot->head.number;
}
