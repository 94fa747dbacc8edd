#include "tbrw/store/seq.h"

#include "containers/array.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_FIRST_SIZE 4096u

_Static_assert(TB5_BUFFER_SIZE <= TB5_PAYLOAD_MAX, "a full buffer is one chunk");

void tb5_cache_finish(struct tb5_cache *cache)
{
	for (size_t i = 0; i < TB5_CACHE_SLOTS; i++)
		free(cache->slots[i].payload);
	memset(cache, 0, sizeof(*cache));
}

void tb5_cache_drop(struct tb5_cache *cache, const struct tb5_store *store, uint64_t offset)
{
	for (size_t i = 0; i < TB5_CACHE_SLOTS; i++)
		if (cache->slots[i].store == store && cache->slots[i].extent.offset >= offset)
			cache->slots[i].store = NULL;
}

static bool is_chunk_of(const struct tb5_seq *seq, const struct tb5_chunk_header *h,
			const struct tb5_extent *extent)
{
	return h->kind == TB5_KIND_BYTES && h->content == seq->content &&
	       (h->stream == seq->stream || seq->content < TB5_STREAM_FIRST) &&
	       h->start == extent->start && h->length == extent->length &&
	       h->payload_crc == extent->crc;
}

/* Reads the payload of an extent. A list is as little to be trusted as a file: the chunk there has
 * to be the sequence's. */
static TBRW_U32 read_extent(const struct tb5_seq *seq, const struct tb5_extent *extent,
			    void *buffer)
{
	struct tb5_chunk_header h;
	uint64_t chunk = extent->offset - sizeof(h);
	TBRW_U32 code = tb5_store_read_header(seq->store, chunk, &h);

	if (code == VT_SUCCESS && !is_chunk_of(seq, &h, extent))
		code = VT_INVALID_SAMPLE_FILE;
	return code == VT_SUCCESS ? tb5_store_read_payload(seq->store, chunk, &h, buffer) : code;
}

static bool slot_holds(const struct tb5_cache_slot *slot, const struct tb5_seq *seq,
		       const struct tb5_extent *extent)
{
	return slot->store == seq->store && slot->content == seq->content &&
	       slot->stream == seq->stream && slot->extent.offset == extent->offset &&
	       slot->extent.start == extent->start && slot->extent.length == extent->length &&
	       slot->extent.crc == extent->crc;
}

/* The payload of an extent, checked, valid until the next call. */
static TBRW_U32 cache_load(struct tb5_cache *cache, const struct tb5_seq *seq,
			   const struct tb5_extent *extent, const unsigned char **payload)
{
	struct tb5_cache_slot *slot = &cache->slots[0];

	cache->tick++;
	for (size_t i = 0; i < TB5_CACHE_SLOTS; i++) {
		struct tb5_cache_slot *s = &cache->slots[i];

		if (slot_holds(s, seq, extent)) {
			s->used = cache->tick;
			*payload = s->payload;
			return VT_SUCCESS;
		}
		if (s->used < slot->used)
			slot = s;
	}
	slot->store = NULL;
	assert(extent->length > 0 && extent->length <= TB5_PAYLOAD_MAX);
	if (!array_reserve(&slot->payload, &slot->capacity, extent->length, 1))
		return VT_NO_MEMORY;
	TBRW_U32 code = read_extent(seq, extent, slot->payload);
	if (code != VT_SUCCESS)
		return code;
	slot->store = seq->store;
	slot->extent = *extent;
	slot->content = seq->content;
	slot->stream = seq->stream;
	slot->used = cache->tick;
	*payload = slot->payload;
	return VT_SUCCESS;
}

void tb5_seq_init(struct tb5_seq *seq, uint16_t content, uint32_t stream, struct tb5_store *store)
{
	*seq = (struct tb5_seq){.content = content,
				.stream = stream,
				.store = store,
				.entry_size = 1};
}

void tb5_seq_finish(struct tb5_seq *seq)
{
	tb5_extents_finish(&seq->extents);
	free(seq->buffer);
	seq->buffer = NULL;
}

TBRW_U32 tb5_seq_load(struct tb5_seq *seq)
{
	return tb5_extents_load(&seq->extents, seq->store, seq->content, seq->stream);
}

TBRW_U32 tb5_seq_buffer(struct tb5_seq *seq, const void *data, size_t size, size_t *taken)
{
	size_t room = TB5_BUFFER_SIZE - seq->buffered;

	assert(seq->buffered <= TB5_BUFFER_SIZE);
	*taken = size < room ? size : room;
	size_t needed = seq->buffered + *taken;
	if (!array_reserve(&seq->buffer, &seq->buffer_capacity,
			   needed < BUFFER_FIRST_SIZE ? BUFFER_FIRST_SIZE : needed, 1))
		return VT_NO_MEMORY;
	if (*taken)
		memcpy(seq->buffer + seq->buffered, data, *taken);
	seq->buffered += (uint32_t)*taken;
	return VT_SUCCESS;
}

TBRW_U32 tb5_seq_flush(struct tb5_seq *seq, bool all)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_BYTES,
					  .content = seq->content,
					  .stream = seq->stream,
					  .length = seq->buffered,
					  .start = seq->extents.end};
	uint64_t offset;

	assert(seq->entry_size > 0);
	if (!all) {
		uint32_t partial = (uint32_t)(tb5_seq_size(seq) % seq->entry_size);

		if (partial < seq->buffered)
			header.length -= partial;
		else if (seq->buffered < TB5_BUFFER_SIZE)
			return VT_SUCCESS;
	}
	if (!header.length)
		return VT_SUCCESS;
	TBRW_U32 code = tb5_seq_load(seq);
	if (code == VT_SUCCESS)
		code = tb5_extents_reserve(&seq->extents);
	if (code == VT_SUCCESS)
		code = tb5_store_append(seq->store, &header, seq->buffer, &offset);
	if (code != VT_SUCCESS)
		return code;
	assert(header.length <= seq->buffered);
	struct tb5_extent extent = (struct tb5_extent){offset + sizeof(header), header.start,
						       header.length, header.payload_crc};
	seq->buffered -= header.length;
	memmove(seq->buffer, seq->buffer + header.length, seq->buffered);
	return tb5_extents_add(&seq->extents, &extent);
}

static TBRW_U32 read_part(struct tb5_cache *cache, const struct tb5_seq *seq,
			  const struct tb5_extent *extent, size_t skip, void *buffer, size_t size)
{
	const unsigned char *payload;
	TBRW_U32 code = cache_load(cache, seq, extent, &payload);

	if (code == VT_SUCCESS)
		memcpy(buffer, payload + skip, size);
	return code;
}

uint64_t tb5_seq_extent_end(const struct tb5_seq *seq, uint64_t offset)
{
	if (offset >= seq->extents.end)
		return tb5_seq_size(seq);
	const struct tb5_extent *extent = tb5_extents_find(&seq->extents, offset);
	return extent->start + extent->length;
}

/* As much of the wanted bytes as one extent has of them. */
static TBRW_U32 read_some(const struct tb5_seq *seq, struct tb5_cache *cache, uint64_t offset,
			  void *buffer, size_t size, size_t *done)
{
	const struct tb5_extent *extent = tb5_extents_find(&seq->extents, offset);
	size_t skip = (size_t)(offset - extent->start);

	assert(skip < extent->length);
	*done = extent->length - skip < size ? extent->length - skip : size;
	return *done == extent->length ? read_extent(seq, extent, buffer)
				       : read_part(cache, seq, extent, skip, buffer, *done);
}

TBRW_U32 tb5_seq_read(struct tb5_seq *seq, struct tb5_cache *cache, uint64_t offset, void *buffer,
		      size_t size)
{
	char *out = buffer;

	if (offset > tb5_seq_size(seq) || size > tb5_seq_size(seq) - offset)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_seq_load(seq);
	while (code == VT_SUCCESS && size && offset < seq->extents.end) {
		size_t done;

		code = read_some(seq, cache, offset, out, size, &done);
		out += done;
		offset += done;
		size -= done;
	}
	if (code == VT_SUCCESS && size)
		memcpy(out, seq->buffer + (offset - seq->extents.end), size);
	return code;
}

TBRW_U32 tb5_seq_check(struct tb5_seq *seq, struct tb5_cache *cache)
{
	TBRW_U32 code = tb5_seq_load(seq);

	for (size_t i = 0; code == VT_SUCCESS && i < seq->extents.count; i++) {
		const unsigned char *payload;

		code = cache_load(cache, seq, &seq->extents.array[i], &payload);
	}
	return code;
}
