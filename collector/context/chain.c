#include "collector/context/chain.h"

#include "containers/array.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_MAX = 8 };

/* A frame as it was pushed. */
struct pushed {
	struct tree_frame frame;
	uint32_t kept;    /* length of the kept stack after this frame */
	uint32_t touched; /* this frame changed the kept stack from here on */
};

/* A frame not collapsed away. */
struct kept {
	struct tree_frame frame;
	uint32_t node;
	uint32_t hash; /* the node's */
};

struct chain {
	struct tree *tree;
	bool collapse;
	struct pushed *pushed; /* outermost first, as is kept */
	struct kept *kept;
	size_t pushed_count;
	size_t kept_count;
	size_t node_count; /* of kept: known nodes */
	size_t pushed_capacity;
	size_t kept_capacity;
};

struct chain *chain_create(struct tree *tree, bool collapse)
{
	struct chain *chain = calloc(1, sizeof(*chain));
	if (!chain)
		return NULL;
	chain->tree = tree;
	chain->collapse = collapse;
	return chain;
}

void chain_destroy(struct chain *chain)
{
	if (!chain)
		return;
	free(chain->pushed);
	free(chain->kept);
	free(chain);
}

static bool reserve_one(struct chain *chain)
{
	return array_reserve(&chain->pushed, &chain->pushed_capacity, chain->pushed_count + 1,
			     sizeof(*chain->pushed)) &&
	       array_reserve(&chain->kept, &chain->kept_capacity, chain->kept_count + 1,
			     sizeof(*chain->kept));
}

static bool is_same_function(const struct chain *chain, size_t left, size_t right)
{
	return chain->kept[left].frame.function == chain->kept[right].frame.function;
}

/* Whether the kept stack ends in three cycles of the given period, equal by their functions. */
static bool ends_in_cycles(const struct chain *chain, size_t period)
{
	size_t end = chain->kept_count;
	if (end < 3 * period)
		return false;
	for (size_t i = 1; i <= 2 * period; i++)
		if (!is_same_function(chain, end - i, end - i - period))
			return false;
	return true;
}

/* Drops the middle one of three cycles at the end; returns the first changed position of the kept
 * stack. */
static size_t drop_cycle(struct chain *chain)
{
	for (size_t period = 1; period <= PERIOD_MAX; period++) {
		if (!ends_in_cycles(chain, period))
			continue;
		chain->kept_count -= period;
		struct kept *last = &chain->kept[chain->kept_count];
		memcpy(last - period, last, period * sizeof(*last));
		return chain->kept_count - period;
	}
	return SIZE_MAX;
}

/* Adds a frame to the kept stack; there is room. */
static void append(struct chain *chain, struct pushed *pushed)
{
	size_t touched = chain->kept_count;
	chain->kept[chain->kept_count++].frame = pushed->frame;
	if (chain->collapse) {
		size_t changed = drop_cycle(chain);
		touched = changed < touched ? changed : touched;
	}
	pushed->touched = (uint32_t)touched;
	pushed->kept = (uint32_t)chain->kept_count;
	if (chain->node_count > touched)
		chain->node_count = touched;
}

void chain_keep(struct chain *chain, size_t count)
{
	if (count >= chain->pushed_count)
		return;
	size_t kept = count > 0 ? chain->pushed[count - 1].kept : 0;
	bool intact = true;
	for (size_t i = count; i < chain->pushed_count; i++)
		intact = intact && chain->pushed[i].touched >= kept;
	chain->pushed_count = count;
	chain->kept_count = intact ? kept : 0;
	if (chain->node_count > chain->kept_count)
		chain->node_count = chain->kept_count;
	/* A recursion further in has replaced frames to keep. */
	for (size_t i = 0; !intact && i < count; i++)
		append(chain, &chain->pushed[i]);
}

bool chain_push(struct chain *chain, struct tree_frame frame)
{
	if (!reserve_one(chain))
		return false;
	struct pushed *pushed = &chain->pushed[chain->pushed_count++];
	pushed->frame = frame;
	append(chain, pushed);
	return true;
}

/* guessed: the flags of a frame that is not verified; 0: it is. */
static struct profile_frame make_frame(const struct uw_frame *from, uint32_t guessed)
{
	return (struct profile_frame){
		.image = from->tag == UW_TAG_NONE ? 0 : from->tag,
		.flags = guessed != 0                              ? guessed
			 : from->source == UW_SOURCE_FRAME_POINTER ? PROFILE_FRAME_POINTER
								   : 0,
		.rva = from->rva,
	};
}

bool chain_take(struct chain *chain, const struct uw_frame *frames, size_t count, size_t kept,
		struct chain_guessed guessed)
{
	const size_t verified = count - guessed.count;
	assert(kept <= count && guessed.count <= count - kept);
	assert(kept <= chain->pushed_count);
	chain_keep(chain, kept);
	for (size_t i = count - kept; i > 0; i--) {
		struct profile_frame frame =
			make_frame(&frames[i - 1], i > verified ? guessed.flags : 0);
		tree_prefetch_frame(chain->tree, &frame);
	}
	for (size_t i = count - kept; i > 0; i--) {
		struct profile_frame frame =
			make_frame(&frames[i - 1], i > verified ? guessed.flags : 0);
		if (!chain_push(chain, tree_frame(chain->tree, &frame, frames[i - 1].function)))
			return false;
	}
	return true;
}

/* Hashes unknown nodes ahead: the tree's memory is waited for once instead of once a node. */
static void prefetch_nodes(struct chain *chain)
{
	size_t i = chain->node_count;
	uint32_t hash = i > 0 ? chain->kept[i - 1].hash : 0;
	for (; i < chain->kept_count; i++) {
		hash = tree_hash(hash, chain->kept[i].frame.id);
		chain->kept[i].hash = hash;
		tree_prefetch_child(chain->tree, hash);
	}
}

uint32_t chain_node(struct chain *chain)
{
	assert(chain->node_count <= chain->kept_count);
	uint32_t node = chain->node_count > 0 ? chain->kept[chain->node_count - 1].node : 0;
	prefetch_nodes(chain);
	for (; chain->node_count < chain->kept_count; chain->node_count++) {
		struct kept *kept = &chain->kept[chain->node_count];
		node = tree_child(chain->tree, node, kept->frame.id, kept->hash);
		if (node == PROFILE_NONE)
			return PROFILE_NONE;
		kept->node = node;
	}
	return node;
}

size_t chain_collapsed(const struct chain *chain)
{
	assert(chain->kept_count <= chain->pushed_count);
	return chain->pushed_count - chain->kept_count;
}
