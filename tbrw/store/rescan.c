#include "tbrw/store/rescan.h"

#include "containers/array.h"
#include "tbrw/store/store.h"
#include <stdlib.h>

struct found {
	uint32_t content;
	uint32_t stream; /* TB5_NO_STREAM for contents of no stream */
	struct tb5_extent extent;
};

struct tb5_rescan {
	struct found *array; /* by content, stream and place in the file */
	size_t count;
	size_t capacity;
};

void tb5_rescan_destroy(struct tb5_rescan *rescan)
{
	if (!rescan)
		return;
	free(rescan->array);
	free(rescan);
}

static int compare_sequences(const struct found *a, const struct found *b)
{
	if (a->content != b->content)
		return a->content < b->content ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int compare(const void *first, const void *second)
{
	const struct found *a = first;
	const struct found *b = second;
	int order = compare_sequences(a, b);

	if (order)
		return order;
	return a->extent.offset < b->extent.offset ? -1 : a->extent.offset > b->extent.offset;
}

static TBRW_U32 note(struct tb5_rescan *rescan, uint64_t at, const struct tb5_chunk_header *h)
{
	if (!array_reserve(&rescan->array, &rescan->capacity, rescan->count + 1,
			   sizeof(*rescan->array)))
		return VT_NO_MEMORY;
	rescan->array[rescan->count++] = (struct found){
		h->content,
		h->content < TB5_STREAM_FIRST ? TB5_NO_STREAM : h->stream,
		{at + sizeof(*h), h->start, h->length, h->payload_crc},
	};
	return VT_SUCCESS;
}

/* Up to the first damaged header; payloads are checked when they are read. */
static TBRW_U32 look_through(struct tb5_rescan *rescan, const struct tb5_store *store)
{
	uint64_t at = sizeof(struct tb5_file_header);
	struct tb5_chunk_header h;
	TBRW_U32 code = VT_SUCCESS;

	while (code == VT_SUCCESS && at < store->end) {
		code = tb5_store_read_header(store, at, &h);
		if (code == VT_SUCCESS && h.kind == TB5_KIND_BYTES)
			code = note(rescan, at, &h);
		if (code == VT_SUCCESS)
			at += tb5_chunk_space(h.length);
	}
	if (rescan->count)
		qsort(rescan->array, rescan->count, sizeof(*rescan->array), compare);
	return code == VT_INVALID_SAMPLE_FILE ? VT_SUCCESS : code;
}

static TBRW_U32 make(struct tb5_store *store)
{
	struct tb5_rescan *rescan = calloc(1, sizeof(*rescan));
	TBRW_U32 code = rescan ? look_through(rescan, store) : VT_NO_MEMORY;

	if (code == VT_SUCCESS)
		store->rescan = rescan;
	else
		tb5_rescan_destroy(rescan);
	return code;
}

/* The first chunk of a sequence, or its place if there is none. */
static size_t find_first(const struct tb5_rescan *rescan, const struct found *wanted)
{
	size_t low = 0;
	size_t high = rescan->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_sequences(&rescan->array[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

TBRW_U32 tb5_rescan_add(struct tb5_store *store, uint16_t content, uint32_t stream,
			struct tb5_extents *extents)
{
	const struct found wanted = {.content = content, .stream = stream};
	TBRW_U32 code = store->rescan ? VT_SUCCESS : make(store);
	const struct tb5_rescan *rescan = store->rescan;

	if (code != VT_SUCCESS)
		return code;
	for (size_t i = find_first(rescan, &wanted);
	     code == VT_SUCCESS && i < rescan->count &&
	     compare_sequences(&rescan->array[i], &wanted) == 0;
	     i++)
		code = tb5_extents_add(extents, &rescan->array[i].extent);
	return code;
}
