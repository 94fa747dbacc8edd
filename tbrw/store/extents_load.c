#include "tbrw/store/crc32c.h"
#include "tbrw/store/extents.h"
#include "tbrw/store/rescan.h"
#include "tbrw/store/store.h"
#include <stdlib.h>

/* Records of a list read at a time. */
#define RECORDS_EACH 4096u

/* Adds the extents of these records; a sequence's chunks lie in the file in its order. */
static TBRW_U32 add_records(struct tb5_extents *extents, const struct tb5_store *store,
			    const struct tb5_list_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tb5_extent *last =
			extents->count ? &extents->array[extents->count - 1] : NULL;
		uint64_t offset = records[i].offset;

		if (records[i].length > TB5_PAYLOAD_MAX || offset > store->end ||
		    tb5_chunk_space(records[i].length) > store->end - offset ||
		    (last && offset < last->offset + last->length))
			return VT_INVALID_SAMPLE_FILE;
		TBRW_U32 code = tb5_extents_add(
			extents,
			&(struct tb5_extent){offset + sizeof(struct tb5_chunk_header), extents->end,
					     records[i].length, records[i].crc});
		if (code != VT_SUCCESS)
			return code;
	}
	return VT_SUCCESS;
}

static TBRW_U32 load_list(struct tb5_extents *extents, const struct tb5_store *store,
			  const struct tb5_list *list, struct tb5_list_record *records)
{
	uint32_t crc = 0;
	TBRW_U32 code = VT_SUCCESS;

	for (uint32_t at = 0; code == VT_SUCCESS && at < list->size;) {
		uint32_t room = RECORDS_EACH * (uint32_t)sizeof(*records);
		uint32_t size = list->size - at < room ? list->size - at : room;

		code = tb5_store_read(store, list->offset + at, records, size);
		if (code == VT_SUCCESS)
			code = add_records(extents, store, records, size / sizeof(*records));
		crc = tb5_crc32c(crc, records, size);
		at += size;
	}
	if (code == VT_SUCCESS && (crc != list->crc || extents->end != list->end))
		code = VT_INVALID_SAMPLE_FILE;
	return code;
}

static TBRW_U32 load_lists(struct tb5_extents *extents, const struct tb5_store *store)
{
	struct tb5_list_record *records = malloc(RECORDS_EACH * sizeof(*records));
	TBRW_U32 code = VT_SUCCESS;

	if (!records)
		return VT_NO_MEMORY;
	for (size_t i = 0; code == VT_SUCCESS && i < extents->list_count; i++)
		code = load_list(extents, store, &extents->lists[i], records);
	free(records);
	return code;
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

	if (extents->listed || !extents->list_count)
		return VT_SUCCESS;
	if (extents->unreadable)
		return VT_INVALID_SAMPLE_FILE;
	forget_array(extents);
	TBRW_U32 code = load_lists(extents, store);
	if (code == VT_INVALID_SAMPLE_FILE) {
		forget_array(extents);
		code = tb5_rescan_add(store, content, stream, extents);
		if (code == VT_SUCCESS && extents->end != end)
			code = VT_INVALID_SAMPLE_FILE;
		/* The next index is to have other lists. */
		if (code == VT_SUCCESS)
			extents->list_count = 0;
		extents->unreadable = code == VT_INVALID_SAMPLE_FILE;
	}
	if (code != VT_SUCCESS)
		extents->count = 0;
	extents->end = end;
	extents->listed = extents->list_count ? extents->count : 0;
	return code;
}
