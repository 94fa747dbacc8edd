#include "collector/proc/mapping.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_SIZE = 64, /* mappings */
	MORE_MAX = 2,    /* by one add: its own, and of one that it splits the second part */
	FIRST_CAPACITY = 8
};

/* Mappings in order of address; never empty in a list. */
struct mapping_block {
	size_t count;
	struct mapping items[BLOCK_SIZE];
};

void mapping_list_finish(struct mapping_list *list)
{
	for (size_t i = 0; i < list->block_count; i++)
		free(list->blocks[i]);
	for (size_t i = 0; i < list->spare_count; i++)
		free(list->spare[i]);
	free(list->blocks);
	*list = (struct mapping_list){0};
}

struct mapping *mapping_list_next(const struct mapping_list *list, struct mapping_place *place)
{
	if (place->block < list->block_count && place->item == list->blocks[place->block]->count) {
		place->block++;
		place->item = 0;
	}
	if (place->block == list->block_count)
		return NULL;
	return &list->blocks[place->block]->items[place->item++];
}

/* Where the first mapping is that ends after address; behind the last one where there is none. */
static struct mapping_place find(const struct mapping_list *list, uint64_t address)
{
	struct mapping_place place = {0};
	size_t high = list->block_count;
	while (place.block < high) {
		size_t middle = place.block + (high - place.block) / 2;
		const struct mapping_block *block = list->blocks[middle];
		if (block->items[block->count - 1].end <= address)
			place.block = middle + 1;
		else
			high = middle;
	}
	if (place.block == list->block_count)
		return place;
	high = list->blocks[place.block]->count;
	while (place.item < high) {
		size_t middle = place.item + (high - place.item) / 2;
		if (list->blocks[place.block]->items[middle].end <= address)
			place.item = middle + 1;
		else
			high = middle;
	}
	return place;
}

struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address)
{
	struct mapping_place place = find(list, address);
	return mapping_list_next(list, &place);
}

/* Makes sure that MORE_MAX mappings can be inserted. 0, or -1 when out of memory. */
static int reserve(struct mapping_list *list)
{
	if (list->block_count + MORE_MAX > list->block_capacity) {
		size_t capacity =
			list->block_capacity == 0 ? FIRST_CAPACITY : 2 * list->block_capacity;
		struct mapping_block **blocks =
			realloc(list->blocks, capacity * sizeof(struct mapping_block *));
		if (!blocks)
			return -1;
		list->blocks = blocks;
		list->block_capacity = capacity;
	}
	while (list->spare_count < MORE_MAX) {
		list->spare[list->spare_count] = malloc(sizeof(struct mapping_block));
		if (!list->spare[list->spare_count])
			return -1;
		list->spare_count++;
	}
	return 0;
}

/* A block at an index, with what the one before it has from its item `from` on; it was reserved. */
static void add_block(struct mapping_list *list, size_t index, size_t from)
{
	struct mapping_block *block = list->spare[--list->spare_count];
	memmove(list->blocks + index + 1, list->blocks + index,
		(list->block_count - index) * sizeof(struct mapping_block *));
	list->blocks[index] = block;
	list->block_count++;
	block->count = 0;
	if (index == 0)
		return;
	struct mapping_block *before = list->blocks[index - 1];
	block->count = before->count - from;
	memcpy(block->items, before->items + from, block->count * sizeof(block->items[0]));
	before->count = from;
}

/* Inserts a mapping at a place, which goes on behind it. */
static void insert(struct mapping_list *list, struct mapping_place *place,
		   const struct mapping *mapping)
{
	/* Behind the last one is the end of its block. */
	if (place->block == list->block_count && place->block > 0) {
		place->block--;
		place->item = list->blocks[place->block]->count;
	}
	if (list->block_count == 0) {
		add_block(list, 0, 0);
	} else if (list->blocks[place->block]->count == BLOCK_SIZE) {
		/* In order of address upwards blocks stay full. */
		size_t from = place->item == BLOCK_SIZE ? BLOCK_SIZE : BLOCK_SIZE / 2;
		add_block(list, place->block + 1, from);
		if (place->item >= from) {
			place->block++;
			place->item -= from;
		}
	}
	struct mapping_block *block = list->blocks[place->block];
	memmove(block->items + place->item + 1, block->items + place->item,
		(block->count - place->item) * sizeof(block->items[0]));
	block->items[place->item++] = *mapping;
	block->count++;
	list->count++;
}

/* Removes the mapping at a place, which is then the next one's. */
static void remove_at(struct mapping_list *list, struct mapping_place *place)
{
	struct mapping_block *block = list->blocks[place->block];
	list->count--;
	block->count--;
	memmove(block->items + place->item, block->items + place->item + 1,
		(block->count - place->item) * sizeof(block->items[0]));
	if (block->count == 0) {
		free(block);
		list->block_count--;
		memmove(list->blocks + place->block, list->blocks + place->block + 1,
			(list->block_count - place->block) * sizeof(struct mapping_block *));
	} else if (place->item == block->count) {
		place->block++;
		place->item = 0;
	}
}

int mapping_list_copy(struct mapping_list *copy, const struct mapping_list *list)
{
	struct mapping_place from = {0}, to = {0};
	*copy = (struct mapping_list){0};
	for (const struct mapping *mapping; (mapping = mapping_list_next(list, &from));) {
		if (reserve(copy) < 0) {
			mapping_list_finish(copy);
			return -1;
		}
		struct mapping unwritten = *mapping;
		unwritten.written = false;
		insert(copy, &to, &unwritten);
	}
	return 0;
}

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->image == b->image;
}

/* Whether an address in both is the same place of the same image. */
static bool agrees(const struct mapping *a, const struct mapping *b)
{
	return a->image == b->image && a->start - a->pgoff == b->start - b->pgoff;
}

/* The mapping at a place, if it starts before end. */
static const struct mapping *overlapped(const struct mapping_list *list, struct mapping_place place,
					uint64_t end)
{
	const struct mapping *item = mapping_list_next(list, &place);
	return item && item->start < end ? item : NULL;
}

int mapping_list_add(struct mapping_list *list, const struct mapping *mapping,
		     mapping_unload *unload, void *user, enum mapping_change *change)
{
	*change = MAPPING_SAME;
	if (mapping->start >= mapping->end)
		return 0;
	if (reserve(list) < 0)
		return -1;
	struct mapping_place place = find(list, mapping->start);
	const struct mapping *old = overlapped(list, place, mapping->end);
	if (old && is_same(old, mapping))
		return 0;
	struct mapping left = {0}, right = {0}; /* left over; empty */
	*change = MAPPING_ADDED;
	while ((old = overlapped(list, place, mapping->end))) {
		if (!agrees(old, mapping))
			*change = MAPPING_REPLACED;
		unload(old, user);
		if (old->start < mapping->start) {
			left = *old;
			left.end = mapping->start;
		}
		if (old->end > mapping->end) {
			right = *old;
			right.pgoff += mapping->end - old->start;
			right.start = mapping->end;
		}
		remove_at(list, &place);
	}
	left.load_ns = right.load_ns = mapping->load_ns;
	left.written = right.written = false;
	if (left.end > 0)
		insert(list, &place, &left);
	insert(list, &place, mapping);
	if (right.end > 0)
		insert(list, &place, &right);
	return 0;
}
