#include "tbrw/store/extents.h"

#include <stdlib.h>

void tb5_extents_finish(struct tb5_extents *extents)
{
	free(extents->array);
	free(extents->lists);
	*extents = (struct tb5_extents){0};
}

TBRW_U32 tb5_extents_reserve(struct tb5_extents *extents)
{
	if (extents->count == extents->capacity) {
		size_t capacity = extents->capacity ? extents->capacity * 2 : 4;
		struct tb5_extent *grown = realloc(extents->array, capacity * sizeof(*grown));

		if (!grown)
			return VT_NO_MEMORY;
		extents->array = grown;
		extents->capacity = capacity;
	}
	return VT_SUCCESS;
}

TBRW_U32 tb5_extents_add(struct tb5_extents *extents, const struct tb5_extent *extent)
{
	if (extent->start != extents->end || !extent->length ||
	    extent->length > UINT64_MAX - extents->end)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_extents_reserve(extents);
	if (code != VT_SUCCESS)
		return code;
	extents->array[extents->count++] = *extent;
	extents->end += extent->length;
	return VT_SUCCESS;
}

TBRW_U32 tb5_extents_add_list(struct tb5_extents *extents, const struct tb5_list *list)
{
	uint64_t records = list->size / sizeof(struct tb5_list_record);

	/* Each chunk has a byte at least and TB5_PAYLOAD_MAX at most. */
	if (!records || list->size % sizeof(struct tb5_list_record) || list->end < extents->end ||
	    list->end - extents->end < records ||
	    list->end - extents->end > records * TB5_PAYLOAD_MAX)
		return VT_INVALID_SAMPLE_FILE;
	if (extents->list_count == extents->list_capacity) {
		size_t capacity = extents->list_capacity ? extents->list_capacity * 2 : 1;
		struct tb5_list *grown = realloc(extents->lists, capacity * sizeof(*grown));

		if (!grown)
			return VT_NO_MEMORY;
		extents->lists = grown;
		extents->list_capacity = capacity;
	}
	extents->lists[extents->list_count++] = *list;
	extents->end = list->end;
	return VT_SUCCESS;
}

const struct tb5_extent *tb5_extents_find(const struct tb5_extents *extents, uint64_t offset)
{
	size_t low = 0;
	size_t high = extents->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (extents->array[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return &extents->array[low];
}
