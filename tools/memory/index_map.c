#include "tools/memory/index_map.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct item_search {
	const char *items;
	const void *wanted;
	size_t size;
	index_map_equal *equal;
};

/* A slot has only a number: its item's index plus 1. */
static bool is_wanted(const void *slot, const void *key)
{
	const struct hash_slot *head = slot;
	const struct item_search *search = key;
	return search->equal(search->items + (head->number - 1) * search->size, search->wanted);
}

void index_map_finish(struct index_map *map)
{
	hash_table_finish(&map->table);
	*map = (struct index_map){0};
}

uint32_t index_map_enter(struct index_map *map, void *items, const void *wanted, size_t size,
			 uint64_t hash, index_map_equal *equal)
{
	struct item_search search = {.wanted = wanted, .size = size, .equal = equal};
	memcpy(&search.items, items, sizeof(search.items));
	struct hash_slot *slot =
		hash_table_find(&map->table, sizeof(*slot), hash, is_wanted, &search);
	if (slot)
		return slot->number - 1;
	slot = hash_table_add(&map->table, sizeof(*slot), hash);
	if (!slot)
		xalloc_fail();
	assert(slot->number == map->table.count); /* nothing is ever removed */
	char *array;
	xalloc_room(items, &map->capacity, slot->number, size);
	memcpy(&array, items, sizeof(array));
	memcpy(array + (slot->number - 1) * size, wanted, size);
	return slot->number - 1;
}

uint64_t index_map_hash(struct index_map *map, const void *bytes, size_t size)
{
	if (map->key.words[0] == 0 && map->key.words[1] == 0)
		map->key = hash_key_draw();
	return hash_bytes(&map->key, bytes, size);
}

uint64_t index_map_hash_text(struct index_map *map, const char *text)
{
	return index_map_hash(map, text, strlen(text));
}

void index_texts_finish(struct index_texts *table)
{
	for (uint32_t i = 0; i < index_texts_count(table); i++)
		free(table->texts[i]);
	free(table->texts);
	index_map_finish(&table->map);
	*table = (struct index_texts){0};
}

static bool is_text(const void *item, const void *wanted)
{
	return strcmp(*(const char *const *)item, *(const char *const *)wanted) == 0;
}

uint32_t index_texts_enter(struct index_texts *table, const char *text)
{
	const char *wanted = text ? text : "";
	uint32_t before = index_texts_count(table);
	uint32_t number = index_map_enter(&table->map, &table->texts, &wanted, sizeof(wanted),
					  index_map_hash_text(&table->map, wanted), is_text);
	if (number == before)
		table->texts[number] = xalloc_text(wanted);
	return number;
}
