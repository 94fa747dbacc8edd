/* A sequence: the growing run of a section's bytes, stored in chunks (FORMAT.md 1.3). Appended
 * through a buffer, read at any offset through a small cache of checked chunks. */
#ifndef TBRW_SEQ_H
#define TBRW_SEQ_H

#include "tbrw/store/extents.h"
#include "tbrw/store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appending buffers up to this much; chunks are of this size or smaller. */
#define TB5_BUFFER_SIZE (256u << 10)

struct tb5_seq {
	uint16_t content;
	uint32_t stream;
	struct tb5_store *store; /* holds the chunks; borrowed */
	struct tb5_extents extents;
	unsigned char *buffer; /* bytes behind the stored ones */
	uint32_t buffered;
	size_t buffer_capacity;
	uint32_t entry_size; /* chunks end between entries of this size where possible */
};

/* Checked payloads, most recently used first kept. One for each open file. */
#define TB5_CACHE_SLOTS 8
struct tb5_cache {
	struct tb5_cache_slot {
		const struct tb5_store *store; /* NULL: empty */
		struct tb5_extent extent;
		uint16_t content; /* of the extent's sequence */
		uint32_t stream;
		uint64_t used; /* tick of the last use */
		unsigned char *payload;
		size_t capacity;
	} slots[TB5_CACHE_SLOTS];
	uint64_t tick;
};

void tb5_cache_finish(struct tb5_cache *cache);
/* Forgets all payloads of `store` from `offset` on. */
void tb5_cache_drop(struct tb5_cache *cache, const struct tb5_store *store, uint64_t offset);

void tb5_seq_init(struct tb5_seq *seq, uint16_t content, uint32_t stream, struct tb5_store *store);
void tb5_seq_finish(struct tb5_seq *seq);

static inline uint64_t tb5_seq_size(const struct tb5_seq *seq)
{
	return seq->extents.end + seq->buffered;
}

/* The future space of the buffer in the file. */
static inline uint64_t tb5_seq_space(const struct tb5_seq *seq)
{
	return seq->buffered ? tb5_chunk_space(seq->buffered) : 0;
}

/* Brings all of the sequence's chunks into seq->extents. */
TBRW_U32 tb5_seq_load(struct tb5_seq *seq);

/* Appends to the buffer up to its end; *taken: the bytes taken. If less than `size`, flush. */
TBRW_U32 tb5_seq_buffer(struct tb5_seq *seq, const void *data, size_t size, size_t *taken);

/* Stores the buffer as one chunk. Unless `all`, an incomplete entry stays in the buffer if a whole
 * one is before it. */
TBRW_U32 tb5_seq_flush(struct tb5_seq *seq, bool all);

/* Copies `size` bytes from `offset`. VT_INVALID_SAMPLE_FILE if the sequence is shorter, or damaged
 * there. */
TBRW_U32 tb5_seq_read(struct tb5_seq *seq, struct tb5_cache *cache, uint64_t offset, void *buffer,
		      size_t size);

/* The end, in a loaded sequence, of the chunk with the byte at `offset`. Reading whole chunks costs
 * no copy. */
uint64_t tb5_seq_extent_end(const struct tb5_seq *seq, uint64_t offset);

/* Reads each chunk once and checks its CRC. */
TBRW_U32 tb5_seq_check(struct tb5_seq *seq, struct tb5_cache *cache);

#endif
