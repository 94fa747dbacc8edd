#include "tbrw/file/strings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tb5_strings_init(struct tb5_strings *strings, struct tb5_store *store)
{
	*strings = (struct tb5_strings){0};
	tb5_seq_init(&strings->seq, TB5_STRINGS, TB5_NO_STREAM, store);
}

void tb5_strings_finish(struct tb5_strings *strings)
{
	tb5_seq_finish(&strings->seq);
	text_set_finish(&strings->set);
}

static bool reserve_bytes(struct text_set *set, size_t more)
{
	return array_reserve(&set->bytes, &set->capacity, set->size + more, 1);
}

/* Brings a file's strings into memory, before the first addition. A damaged or foreign file may
 * hold a string twice. */
static TBRW_U32 load_strings(struct tb5_strings *strings, struct tb5_cache *cache)
{
	struct text_set *set = &strings->set;
	size_t size = (size_t)tb5_seq_size(&strings->seq);
	uint32_t length;

	/* All texts of the set were appended to the sequence. */
	assert(set->size == 0 || set->size == size);
	if (set->size == size)
		return VT_SUCCESS;
	if (!reserve_bytes(set, size))
		return VT_NO_MEMORY;
	TBRW_U32 code = tb5_seq_read(&strings->seq, cache, 0, set->bytes, size);
	if (code != VT_SUCCESS)
		return code;
	for (size_t at = 0; at < size; at += length) {
		if (size - at < sizeof(length))
			return VT_INVALID_SAMPLE_FILE;
		memcpy(&length, set->bytes + at, sizeof(length));
		at += sizeof(length);
		if (length > size - at)
			return VT_INVALID_SAMPLE_FILE;
		if (!text_set_enter(set, at, length))
			return VT_NO_MEMORY;
	}
	set->size = size;
	return VT_SUCCESS;
}

TBRW_U32 tb5_strings_intern(struct tb5_strings *strings, struct tb5_cache *cache, const char *utf8,
			    size_t size, uint64_t *id, size_t *added)
{
	struct text_set *set = &strings->set;
	uint32_t length = (uint32_t)size;
	TBRW_U32 code = load_strings(strings, cache);

	if (code != VT_SUCCESS)
		return code;
	if (size > UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	if (!reserve_bytes(set, sizeof(length) + size))
		return VT_NO_MEMORY;
	size_t offset = set->size + sizeof(length);
	memcpy(set->bytes + set->size, &length, sizeof(length));
	memcpy(set->bytes + offset, utf8, size);
	const struct text_slot *known = text_set_enter(set, offset, length);
	if (!known)
		return VT_NO_MEMORY;
	*added = known->offset == offset ? sizeof(length) + size : 0;
	set->size += *added;
	*id = (known->offset - sizeof(length)) | TB5_STRING_ID_BIT;
	return VT_SUCCESS;
}

bool tb5_strings_recall(const struct tb5_strings *strings, const wchar_t *text, uint64_t *id)
{
	for (size_t i = 0; i < TB5_RECENT; i++) {
		const struct tb5_recent *recent = &strings->recent[i];
		if (recent->id && wcscmp(recent->text, text) == 0) {
			*id = recent->id;
			return true;
		}
	}
	return false;
}

void tb5_strings_remember(struct tb5_strings *strings, const wchar_t *text, uint64_t id)
{
	struct tb5_recent *recent = &strings->recent[strings->turn % TB5_RECENT];
	size_t length = wcslen(text);

	if (length >= sizeof(recent->text) / sizeof(recent->text[0]))
		return;
	wmemcpy(recent->text, text, length + 1);
	recent->id = id;
	strings->turn++;
}

TBRW_U32 tb5_strings_get(struct tb5_strings *strings, struct tb5_cache *cache, uint64_t id,
			 char **utf8, size_t *size)
{
	uint64_t offset = id & ~TB5_STRING_ID_BIT;
	uint64_t total = tb5_seq_size(&strings->seq);
	uint32_t length;

	if (offset > total || total - offset < sizeof(length))
		return VT_INVALID_STRING;
	TBRW_U32 code = tb5_seq_read(&strings->seq, cache, offset, &length, sizeof(length));
	if (code != VT_SUCCESS)
		return code;
	offset += sizeof(length);
	if (length > total - offset)
		return VT_INVALID_STRING;
	char *bytes = malloc((size_t)length + 1);
	if (!bytes)
		return VT_NO_MEMORY;
	code = tb5_seq_read(&strings->seq, cache, offset, bytes, length);
	if (code != VT_SUCCESS) {
		free(bytes);
		return code;
	}
	bytes[length] = 0;
	*utf8 = bytes;
	*size = length;
	return VT_SUCCESS;
}
