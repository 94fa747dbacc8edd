#include "profile/base/texttable.h"

#include "profile/base/utf8.h"
#include <stdlib.h>
#include <string.h>

struct profile_text_entry {
	struct profile_text text;
	uint32_t hash;
};

/* 64-bit FNV-1a, folded: the texts are paths and names, short and few. */
static uint32_t hash_bytes(const char *s, size_t size)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
	return (uint32_t)(h ^ h >> 32);
}

static bool entry_is(const struct profile_text_table *table, uint32_t entry, uint32_t hash,
		     const char *s, size_t size)
{
	const struct profile_text_entry *e = &table->entries[entry];

	return e->hash == hash && e->text.length == size &&
	       memcmp(table->bytes + e->text.offset, s, size) == 0;
}

static void slot_store(uint32_t *slots, uint32_t slot_count, uint32_t hash, uint32_t entry)
{
	uint32_t at = hash & (slot_count - 1);

	while (slots[at] != 0)
		at = (at + 1) & (slot_count - 1);
	slots[at] = entry + 1;
}

static bool slots_reserve(struct profile_text_table *table)
{
	if (table->entry_count < table->slot_count / 2)
		return true;
	if (table->slot_count > UINT32_MAX / 4)
		return false;
	uint32_t count = table->slot_count ? table->slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < table->entry_count; i++)
		slot_store(slots, count, table->entries[i].hash, i);
	free(table->slots);
	table->slots = slots;
	table->slot_count = count;
	return true;
}

static bool entries_reserve(struct profile_text_table *table)
{
	if (table->entry_count < table->entry_capacity)
		return true;
	uint32_t capacity = table->entry_capacity ? table->entry_capacity * 2 : 128;
	struct profile_text_entry *entries =
		reallocarray(table->entries, capacity, sizeof(*entries));
	if (!entries)
		return false;
	table->entries = entries;
	table->entry_capacity = capacity;
	return true;
}

static bool bytes_reserve(struct profile_text_table *table, size_t size)
{
	if (table->capacity - table->used >= size)
		return true;
	size_t capacity = table->capacity ? table->capacity : 4096;
	while (capacity - table->used < size)
		capacity *= 2;
	char *bytes = realloc(table->bytes, capacity);
	if (!bytes)
		return false;
	table->bytes = bytes;
	table->capacity = capacity;
	return true;
}

void profile_text_table_finish(struct profile_text_table *table)
{
	free(table->bytes);
	free(table->entries);
	free(table->slots);
	*table = (struct profile_text_table){0};
}

enum profile_text_status profile_text_table_add(struct profile_text_table *table, const char *s,
						struct profile_text *text)
{
	*text = (struct profile_text){0};
	if (!s || !*s)
		return PROFILE_TEXT_KNOWN;
	size_t raw = strnlen(s, PROFILE_TEXT_MAX + 1);
	if (!bytes_reserve(table, 3 * raw) || !entries_reserve(table) || !slots_reserve(table))
		return PROFILE_TEXT_NO_MEMORY;

	/* Cleaned in place behind the last text, where a new one stays. */
	char *clean = table->bytes + table->used;
	size_t size = profile_utf8_clean(s, raw, clean);
	size = profile_utf8_cut(clean, size, PROFILE_TEXT_MAX);
	uint32_t hash = hash_bytes(clean, size);
	for (uint32_t at = hash & (table->slot_count - 1); table->slots[at] != 0;
	     at = (at + 1) & (table->slot_count - 1)) {
		if (entry_is(table, table->slots[at] - 1, hash, clean, size)) {
			*text = table->entries[table->slots[at] - 1].text;
			return PROFILE_TEXT_KNOWN;
		}
	}
	if (table->used + size > INT32_MAX)
		return PROFILE_TEXT_KNOWN;
	*text = (struct profile_text){.offset = (uint32_t)table->used, .length = (uint32_t)size};
	table->entries[table->entry_count] = (struct profile_text_entry){*text, hash};
	slot_store(table->slots, table->slot_count, hash, table->entry_count);
	table->entry_count++;
	table->used += size;
	return PROFILE_TEXT_NEW;
}
