/*
 * Distinct texts in one growing run of bytes, as in a file, and a hash table to find them. A new
 * text is written behind the others first, and stays there if no other is equal:
 *
 *   if (!array_reserve(&set->bytes, &set->capacity, set->size + size, 1))
 *           return NULL;
 *   memcpy(set->bytes + set->size, text, size);
 *   const struct text_slot *known = text_set_enter(set, set->size, size);
 *   if (known && known->offset == set->size)
 *           set->size += size;
 */
#ifndef CONTAINERS_TEXT_SET_H
#define CONTAINERS_TEXT_SET_H

#include "containers/array.h"
#include "containers/hash.h"
#include "containers/hash_table.h"

struct text_slot {
	struct hash_slot head;
	uint32_t size;
	uint64_t offset;
};

/* All zero: empty. */
struct text_set {
	char *bytes;
	size_t size;
	size_t capacity;
	struct hash_table table;
	struct hash_key key;
};

static inline void text_set_finish(struct text_set *set)
{
	free(set->bytes);
	hash_table_finish(&set->table);
	*set = (struct text_set){0};
}

struct text_set_wanted {
	const char *bytes;
	const char *text;
	uint32_t size;
};

static inline bool text_set_is(const void *slot, const void *key)
{
	const struct text_slot *known = slot;
	const struct text_set_wanted *wanted = key;

	return known->size == wanted->size &&
	       memcmp(wanted->bytes + known->offset, wanted->text, wanted->size) == 0;
}

/* The set's text equal to the one at bytes[offset..offset + size); if there is none, this one joins
 * the set and is returned. NULL: out of memory. */
static inline struct text_slot *text_set_enter(struct text_set *set, size_t offset, uint32_t size)
{
	assert(offset <= set->capacity && size <= set->capacity - offset);
	if (!set->table.capacity)
		set->key = hash_key_draw();
	const struct text_set_wanted wanted = {set->bytes, set->bytes + offset, size};
	uint64_t hash = hash_bytes(&set->key, wanted.text, size);
	struct text_slot *slot =
		hash_table_find(&set->table, sizeof(*slot), hash, text_set_is, &wanted);
	if (slot)
		return slot;
	slot = hash_table_add(&set->table, sizeof(*slot), hash);
	if (slot) {
		slot->size = size;
		slot->offset = offset;
	}
	return slot;
}

#endif
