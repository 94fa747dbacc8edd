#include "tbrw/file/strings.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u

void tb5_strings_init(struct tb5_strings *strings, struct tb5_store *store)
{
	*strings = (struct tb5_strings){.key = tb5_hash_key()};
	tb5_seq_init(&strings->seq, TB5_STRINGS, TB5_NO_STREAM, store);
}

void tb5_strings_finish(struct tb5_strings *strings)
{
	tb5_seq_finish(&strings->seq);
	free(strings->text);
	free(strings->slots);
}

static uint32_t string_size_at(const struct tb5_strings *strings, uint64_t offset)
{
	uint32_t size;

	memcpy(&size, strings->text + offset, sizeof(size));
	return size;
}

/* The slot that holds the string, or the free one where it belongs. */
static uint64_t *strings_slot(const struct tb5_strings *strings, const char *utf8, size_t size)
{
	size_t mask = strings->slot_count - 1;

	for (size_t i = tb5_hash(&strings->key, utf8, size) & mask;; i = (i + 1) & mask) {
		uint64_t *slot = &strings->slots[i];
		uint64_t offset = *slot - 1;

		if (!*slot || (string_size_at(strings, offset) == size &&
			       memcmp(strings->text + offset + 4, utf8, size) == 0))
			return slot;
	}
}

/* Keeps the table at most half full. */
static TBRW_U32 strings_reserve_slot(struct tb5_strings *strings)
{
	size_t count = strings->slot_count ? strings->slot_count * 2 : FIRST_SLOTS;
	struct tb5_strings grown = *strings;

	if (strings->used < strings->slot_count / 2)
		return VT_SUCCESS;
	grown.slots = calloc(count, sizeof(*grown.slots));
	if (!grown.slots)
		return VT_NO_MEMORY;
	grown.slot_count = count;
	for (size_t i = 0; i < strings->slot_count; i++) {
		uint64_t offset = strings->slots[i] - 1;

		if (strings->slots[i])
			*strings_slot(&grown, grown.text + offset + 4,
				      string_size_at(&grown, offset)) = offset + 1;
	}
	free(strings->slots);
	strings->slots = grown.slots;
	strings->slot_count = count;
	return VT_SUCCESS;
}

static TBRW_U32 strings_reserve_text(struct tb5_strings *strings, size_t size)
{
	size_t capacity = strings->text_capacity ? strings->text_capacity : 4096;

	if (strings->text_capacity - strings->text_size >= size)
		return VT_SUCCESS;
	while (capacity - strings->text_size < size) {
		if (capacity > SIZE_MAX / 2)
			return VT_NO_MEMORY;
		capacity *= 2;
	}
	char *grown = realloc(strings->text, capacity);
	if (!grown)
		return VT_NO_MEMORY;
	strings->text = grown;
	strings->text_capacity = capacity;
	return VT_SUCCESS;
}

/* Enters the string at `offset` of the text, unless an equal one is there: a damaged or foreign
 * file may hold a string twice. */
static TBRW_U32 strings_enter(struct tb5_strings *strings, uint64_t offset)
{
	TBRW_U32 code = strings_reserve_slot(strings);

	if (code != VT_SUCCESS)
		return code;
	uint64_t *slot =
		strings_slot(strings, strings->text + offset + 4, string_size_at(strings, offset));
	if (!*slot) {
		*slot = offset + 1;
		strings->used++;
	}
	return VT_SUCCESS;
}

/* Before the first string is added to a file that has some already: brings them into memory. */
static TBRW_U32 strings_load(struct tb5_strings *strings, struct tb5_cache *cache)
{
	size_t size = (size_t)tb5_seq_size(&strings->seq);

	if (strings->text_size == size)
		return VT_SUCCESS;
	TBRW_U32 code = strings_reserve_text(strings, size);
	if (code == VT_SUCCESS)
		code = tb5_seq_read(&strings->seq, cache, 0, strings->text, size);
	for (size_t at = 0; code == VT_SUCCESS && at < size;) {
		if (size - at < 4 || string_size_at(strings, at) > size - at - 4)
			return VT_INVALID_SAMPLE_FILE;
		code = strings_enter(strings, at);
		at += 4 + (size_t)string_size_at(strings, at);
	}
	if (code == VT_SUCCESS)
		strings->text_size = size;
	return code;
}

TBRW_U32 tb5_strings_intern(struct tb5_strings *strings, struct tb5_cache *cache, const char *utf8,
			    size_t size, uint64_t *id, size_t *added)
{
	uint32_t size32 = (uint32_t)size;
	TBRW_U32 code = strings_load(strings, cache);

	if (code != VT_SUCCESS)
		return code;
	if (size > UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	code = strings_reserve_slot(strings);
	if (code != VT_SUCCESS)
		return code;
	uint64_t *slot = strings_slot(strings, utf8, size);
	*added = 0;
	if (!*slot) {
		code = strings_reserve_text(strings, size + 4);
		if (code != VT_SUCCESS)
			return code;
		memcpy(strings->text + strings->text_size, &size32, 4);
		memcpy(strings->text + strings->text_size + 4, utf8, size);
		*slot = strings->text_size + 1;
		strings->used++;
		strings->text_size += size + 4;
		*added = size + 4;
	}
	*id = (*slot - 1) | TB5_STRING_ID_BIT;
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
			 char **utf8, uint32_t *size)
{
	uint64_t offset = id & ~TB5_STRING_ID_BIT;
	uint64_t total = tb5_seq_size(&strings->seq);
	uint32_t length;

	if (offset > total || total - offset < 4)
		return VT_INVALID_STRING;
	TBRW_U32 code = tb5_seq_read(&strings->seq, cache, offset, &length, 4);
	if (code != VT_SUCCESS)
		return code;
	if (length > total - offset - 4)
		return VT_INVALID_STRING;
	char *bytes = malloc((size_t)length + 1);
	if (!bytes)
		return VT_NO_MEMORY;
	code = tb5_seq_read(&strings->seq, cache, offset + 4, bytes, length);
	if (code != VT_SUCCESS) {
		free(bytes);
		return code;
	}
	*utf8 = bytes;
	*size = length;
	return VT_SUCCESS;
}
