#include "tools/generated/split_frames.h"

#include "tools/generated/code_lives.h"
#include "tools/memory/xalloc.h"
#include <stddef.h>
#include <stdlib.h>

_Static_assert(offsetof(struct split_frames, copy) == 0, "the way from the copy to the split");

struct node_slot {
	struct hash_slot head;
	struct profile_node node;
	uint32_t index;
};

static bool is_node(const void *slot, const void *key)
{
	const struct profile_node *node = &((const struct node_slot *)slot)->node;
	const struct profile_node *wanted = key;
	return node->parent == wanted->parent && node->frame == wanted->frame;
}

/* The writer's frame for the code of another life at a frame's address. */
static TBRW_U32 find_frame(struct split_frames *split, uint32_t frame, uint32_t life,
			   uint32_t *index)
{
	const uint32_t *images = split->copy.ids[PROFILE_STREAM_IMAGES];
	if (!split->frame_of_life)
		split->frame_of_life = xalloc_zeroed(code_lives_count(split->lives),
						     sizeof(*split->frame_of_life));
	/* The first frame of the writer is the reader's first one. */
	*index = split->frame_of_life[life];
	if (*index != 0)
		return VT_SUCCESS;
	struct profile_frame added = *profile_reader_frame(split->copy.reader, frame);
	added.image = images[added.image];
	TBRW_U32 code =
		profile_writer_add(split->copy.writer, PROFILE_STREAM_FRAMES, &added, NULL, index);
	if (code == VT_SUCCESS)
		split->frame_of_life[life] = *index;
	return code;
}

/* The writer's node of a frame below a parent. */
static TBRW_U32 find_node(struct split_frames *split, uint32_t parent, uint32_t frame,
			  uint32_t *index)
{
	const struct profile_node node = {parent, frame};
	uint64_t hash = hash_number(&split->key, (uint64_t)parent << 32 | frame);
	struct node_slot *slot =
		hash_table_find(&split->nodes, sizeof(*slot), hash, is_node, &node);
	if (slot) {
		*index = slot->index;
		return VT_SUCCESS;
	}
	TBRW_U32 code =
		profile_writer_add(split->copy.writer, PROFILE_STREAM_NODES, &node, NULL, index);
	if (code != VT_SUCCESS)
		return code;
	slot = hash_table_add(&split->nodes, sizeof(*slot), hash);
	if (!slot)
		return VT_NO_MEMORY;
	slot->node = node;
	slot->index = *index;
	return VT_SUCCESS;
}

/* Goes from a placed node of the reader to its child. */
static TBRW_U32 step(struct split_frames *split, uint32_t child, uint64_t tsc, bool *is_apart,
		     uint32_t *placed)
{
	const struct profile_copy *copy = &split->copy;
	const struct profile_node *node = profile_reader_node(copy->reader, child);
	uint32_t life = node->frame == PROFILE_NONE
				? PROFILE_NONE
				: code_lives_other(split->lives, node->frame, tsc);
	uint32_t frame;
	if (life == PROFILE_NONE && !*is_apart) {
		*placed = copy->ids[PROFILE_STREAM_NODES][child];
		return VT_SUCCESS;
	}
	*is_apart = true;
	if (life == PROFILE_NONE)
		frame = node->frame == PROFILE_NONE ? PROFILE_NONE
						    : copy->ids[PROFILE_STREAM_FRAMES][node->frame];
	else {
		TBRW_U32 code = find_frame(split, node->frame, life, &frame);
		if (code != VT_SUCCESS)
			return code;
	}
	return find_node(split, *placed, frame, placed);
}

/* The writer's node for a node of the reader, at a time: profile_copy's `place`. */
static TBRW_U32 place(const struct profile_copy *copy, uint32_t node, uint64_t tsc,
		      uint32_t *placed)
{
	struct split_frames *split = (struct split_frames *)(uintptr_t)copy;
	size_t depth = 0;
	bool is_apart = false;
	TBRW_U32 code = VT_SUCCESS;
	*placed = copy->ids[PROFILE_STREAM_NODES][node];
	while (node != PROFILE_NONE && code_lives_is_mixed_node(split->lives, node)) {
		xalloc_room(&split->path, &split->path_capacity, depth + 1, sizeof(*split->path));
		split->path[depth++] = node;
		node = profile_reader_node(copy->reader, node)->parent;
	}
	if (depth > 0)
		*placed = node == PROFILE_NONE ? 0 : copy->ids[PROFILE_STREAM_NODES][node];
	while (depth > 0 && code == VT_SUCCESS)
		code = step(split, split->path[--depth], tsc, &is_apart, placed);
	return code;
}

void split_frames_begin(struct split_frames *split, struct profile_reader *reader,
			const struct code_lives *lives)
{
	*split = (struct split_frames){.copy = {.reader = reader, .place = place},
				       .lives = lives,
				       .key = hash_key_draw()};
}

void split_frames_finish(struct split_frames *split)
{
	hash_table_finish(&split->nodes);
	free(split->frame_of_life);
	free(split->path);
}
