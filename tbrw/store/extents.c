#include "tbrw/store/extents.h"

#include "containers/array.h"
#include "tbrw/store/crc32c.h"
#include "tbrw/store/store.h"
#include <assert.h>
#include <stdlib.h>

void tb5_extents_finish(struct tb5_extents *extents)
{
	free(extents->array);
	free(extents->lists);
	*extents = (struct tb5_extents){0};
}

TBRW_U32 tb5_extents_reserve(struct tb5_extents *extents)
{
	return array_reserve(&extents->array, &extents->capacity, extents->count + 1,
			     sizeof(*extents->array))
		       ? VT_SUCCESS
		       : VT_NO_MEMORY;
}

TBRW_U32 tb5_extents_add(struct tb5_extents *extents, const struct tb5_extent *extent)
{
	if (extent->start != extents->end || !extent->length ||
	    extent->length > UINT64_MAX - extents->end)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_extents_reserve(extents);
	if (code != VT_SUCCESS)
		return code;
	/* All of them: the lists are loaded. */
	assert(extents->end == (extents->count ? extents->array[extents->count - 1].start +
							 extents->array[extents->count - 1].length
					       : 0));
	extents->array[extents->count++] = *extent;
	extents->end += extent->length;
	return VT_SUCCESS;
}

TBRW_U32 tb5_extents_add_list(struct tb5_extents *extents, const struct tb5_list *list)
{
	uint64_t records = list->size / sizeof(struct tb5_list_record);

	assert(extents->count == 0);
	/* Each chunk has a byte at least and TB5_PAYLOAD_MAX at most. */
	if (!records || list->size % sizeof(struct tb5_list_record) || list->end < extents->end ||
	    list->end - extents->end < records ||
	    list->end - extents->end > records * TB5_PAYLOAD_MAX)
		return VT_INVALID_SAMPLE_FILE;
	if (!array_reserve(&extents->lists, &extents->list_capacity, extents->list_count + 1,
			   sizeof(*extents->lists)))
		return VT_NO_MEMORY;
	extents->lists[extents->list_count++] = *list;
	extents->end = list->end;
	return VT_SUCCESS;
}

struct tb5_list tb5_extents_list(const struct tb5_extents *extents, size_t first, uint32_t count,
				 uint64_t offset, struct tb5_list_record *records)
{
	uint32_t size = count * (uint32_t)sizeof(*records);

	assert(count > 0 && first < extents->count && count <= extents->count - first);
	for (uint32_t i = 0; i < count; i++) {
		const struct tb5_extent *e = &extents->array[first + i];

		records[i] = (struct tb5_list_record){e->offset - sizeof(struct tb5_chunk_header),
						      e->length, e->crc};
	}
	const struct tb5_extent *last = &extents->array[first + count - 1];
	return (struct tb5_list){offset, last->start + last->length, size,
				 tb5_crc32c(0, records, size)};
}

const struct tb5_extent *tb5_extents_find(const struct tb5_extents *extents, uint64_t offset)
{
	size_t low = 0;
	size_t high = extents->count;

	assert(high > 0 && offset < extents->end);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (extents->array[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return &extents->array[low];
}
