#include "tbrw/extents.h"

#include <stdlib.h>

#include "tbrw/crc32c.h"
#include "tbrw/rescan.h"

/* Records of a list that are read at a time. */
#define RECORDS_EACH 4096u

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
		struct tb5_extent *grown = realloc(extents->array, capacity * sizeof *grown);

		if (!grown)
			return VT_NO_MEMORY;
		extents->array = grown;
		extents->capacity = capacity;
	}
	return VT_SUCCESS;
}

TBRW_U32 tb5_extents_add(struct tb5_extents *extents, const struct tb5_extent *extent)
{
	TBRW_U32 ret;

	if (extent->start != extents->end || !extent->length ||
	    extent->length > UINT64_MAX - extents->end)
		return VT_INVALID_SAMPLE_FILE;
	ret = tb5_extents_reserve(extents);
	if (ret != VT_SUCCESS)
		return ret;
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
		struct tb5_list *grown = realloc(extents->lists, capacity * sizeof *grown);

		if (!grown)
			return VT_NO_MEMORY;
		extents->lists = grown;
		extents->list_capacity = capacity;
	}
	extents->lists[extents->list_count++] = *list;
	extents->end = list->end;
	return VT_SUCCESS;
}

/* Adds the extents of these records; a sequence's chunks lie in the file in its order. */
static TBRW_U32 add_records(struct tb5_extents *extents, const struct tb5_store *store,
			    const struct tb5_list_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tb5_extent *last =
			extents->count ? &extents->array[extents->count - 1] : NULL;
		uint64_t offset = records[i].offset;
		TBRW_U32 ret;

		if (records[i].length > TB5_PAYLOAD_MAX || offset > store->end ||
		    tb5_chunk_space(records[i].length) > store->end - offset ||
		    (last && offset < last->offset + last->length))
			return VT_INVALID_SAMPLE_FILE;
		ret = tb5_extents_add(extents,
				      &(struct tb5_extent){offset + sizeof(struct tb5_chunk_header),
							   extents->end, records[i].length,
							   records[i].crc});
		if (ret != VT_SUCCESS)
			return ret;
	}
	return VT_SUCCESS;
}

static TBRW_U32 load_list(struct tb5_extents *extents, const struct tb5_store *store,
			  const struct tb5_list *list, struct tb5_list_record *records)
{
	uint32_t crc = 0;
	TBRW_U32 ret = VT_SUCCESS;

	for (uint32_t at = 0; ret == VT_SUCCESS && at < list->size;) {
		uint32_t room = RECORDS_EACH * (uint32_t)sizeof *records;
		uint32_t size = list->size - at < room ? list->size - at : room;

		ret = tb5_store_read(store, list->offset + at, records, size);
		if (ret == VT_SUCCESS)
			ret = add_records(extents, store, records, size / sizeof *records);
		crc = tb5_crc32c(crc, records, size);
		at += size;
	}
	if (ret == VT_SUCCESS && (crc != list->crc || extents->end != list->end))
		ret = VT_INVALID_SAMPLE_FILE;
	return ret;
}

static TBRW_U32 load_lists(struct tb5_extents *extents, const struct tb5_store *store)
{
	struct tb5_list_record *records = malloc(RECORDS_EACH * sizeof *records);
	TBRW_U32 ret = VT_SUCCESS;

	if (!records)
		return VT_NO_MEMORY;
	for (size_t i = 0; ret == VT_SUCCESS && i < extents->list_count; i++)
		ret = load_list(extents, store, &extents->lists[i], records);
	free(records);
	return ret;
}

static void forget_array(struct tb5_extents *extents)
{
	extents->count = 0;
	extents->end = 0;
}

TBRW_U32 tb5_extents_load(struct tb5_extents *extents, struct tb5_store *store, uint16_t content,
			  uint32_t stream)
{
	uint64_t end = extents->end;
	TBRW_U32 ret;

	if (extents->listed || !extents->list_count)
		return VT_SUCCESS;
	if (extents->unreadable)
		return VT_INVALID_SAMPLE_FILE;
	forget_array(extents);
	ret = load_lists(extents, store);
	if (ret == VT_INVALID_SAMPLE_FILE) {
		forget_array(extents);
		ret = tb5_rescan_add(store, content, stream, extents);
		if (ret == VT_SUCCESS && extents->end != end)
			ret = VT_INVALID_SAMPLE_FILE;
		/* The next index is to have other lists. */
		if (ret == VT_SUCCESS)
			extents->list_count = 0;
		extents->unreadable = ret == VT_INVALID_SAMPLE_FILE;
	}
	if (ret != VT_SUCCESS)
		extents->count = 0;
	extents->end = end;
	extents->listed = extents->list_count ? extents->count : 0;
	return ret;
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
