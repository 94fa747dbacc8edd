/*
 * Frames of generated code kept apart by time, while a result is copied: where other code lay at a
 * frame's address when a sample was taken, the sample gets nodes of its own, with a frame for that
 * code. All other nodes keep their places.
 */
#ifndef TOOLS_GENERATED_SPLIT_FRAMES_H
#define TOOLS_GENERATED_SPLIT_FRAMES_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/copy.h"
#include <stddef.h>
#include <stdint.h>

struct code_lives;

struct split_frames {
	struct profile_copy copy; /* reader and place are set; the first member */
	const struct code_lives *lives;
	struct hash_key key;
	struct hash_table nodes; /* those added, by parent and frame */
	uint32_t *frame_of_life; /* the writer's; 0: not added. NULL until the first one */
	uint32_t *path;          /* nodes of the reader on the way to the root */
	size_t path_capacity;
};

/* lives: the reader's. All is borrowed. */
void split_frames_begin(struct split_frames *split, struct profile_reader *reader,
			const struct code_lives *lives);
void split_frames_finish(struct split_frames *split); /* not the copy */

#endif
