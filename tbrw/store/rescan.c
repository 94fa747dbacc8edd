#include "tbrw/store/rescan.h"

#include "containers/array.h"
#include "containers/compare.h"
#include "tbrw/store/store.h"
#include <stdlib.h>

struct tb5_found {
	uint32_t content;
	uint32_t stream; /* TB5_NO_STREAM for contents of no stream */
	struct tb5_extent extent;
};

struct search {
	struct tb5_found *found; /* by content, stream and place in the file */
	size_t count;
	size_t capacity;
};

static int compare_sequences(const struct tb5_found *a, const struct tb5_found *b)
{
	int order = compare_numbers(a->content, b->content);

	return order ? order : compare_numbers(a->stream, b->stream);
}

static int compare_found(const void *first, const void *second)
{
	const struct tb5_found *a = first;
	const struct tb5_found *b = second;
	int order = compare_sequences(a, b);

	return order ? order : compare_numbers(a->extent.offset, b->extent.offset);
}

static TBRW_U32 note_chunk(struct search *search, uint64_t at, const struct tb5_chunk_header *h)
{
	if (!array_reserve(&search->found, &search->capacity, search->count + 1,
			   sizeof(*search->found)))
		return VT_NO_MEMORY;
	search->found[search->count++] = (struct tb5_found){
		h->content,
		h->content < TB5_STREAM_FIRST ? TB5_NO_STREAM : h->stream,
		{at + sizeof(*h), h->start, h->length, h->payload_crc},
	};
	return VT_SUCCESS;
}

/* Up to the first damaged header; payloads are checked when they are read. */
static TBRW_U32 look_through(struct search *search, const struct tb5_store *store)
{
	uint64_t at = sizeof(struct tb5_file_header);
	struct tb5_chunk_header h;
	TBRW_U32 code = VT_SUCCESS;

	while (code == VT_SUCCESS && at < store->end) {
		code = tb5_store_read_header(store, at, &h);
		if (code == VT_SUCCESS && h.kind == TB5_KIND_BYTES)
			code = note_chunk(search, at, &h);
		if (code == VT_SUCCESS)
			at += tb5_chunk_space(h.length);
	}
	qsort(search->found, search->count, sizeof(*search->found), compare_found);
	return code == VT_INVALID_SAMPLE_FILE ? VT_SUCCESS : code;
}

static TBRW_U32 find_chunks(struct tb5_store *store)
{
	struct search search = {0};
	TBRW_U32 code = VT_NO_MEMORY;

	/* Room for one: a store is searched once, even if nothing is found. */
	if (array_reserve(&search.found, &search.capacity, 1, sizeof(*search.found)))
		code = look_through(&search, store);
	if (code != VT_SUCCESS) {
		free(search.found);
		return code;
	}
	store->found = search.found;
	store->found_count = search.count;
	return VT_SUCCESS;
}

/* The first chunk of a sequence, or its place if there is none. */
static size_t find_first(const struct tb5_store *store, const struct tb5_found *wanted)
{
	size_t low = 0;
	size_t high = store->found_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_sequences(&store->found[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

TBRW_U32 tb5_rescan_add(struct tb5_store *store, uint16_t content, uint32_t stream,
			struct tb5_extents *extents)
{
	const struct tb5_found wanted = {.content = content, .stream = stream};
	TBRW_U32 code = store->found ? VT_SUCCESS : find_chunks(store);

	if (code != VT_SUCCESS)
		return code;
	for (size_t i = find_first(store, &wanted);
	     code == VT_SUCCESS && i < store->found_count &&
	     compare_sequences(&store->found[i], &wanted) == 0;
	     i++)
		code = tb5_extents_add(extents, &store->found[i].extent);
	return code;
}
