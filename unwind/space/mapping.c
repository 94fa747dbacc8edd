#include "unwind/space/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

struct uw_mapping_block {
	size_t count;
	struct uw_mapping items[UW_MAPPING_BLOCK];
};

void uw_mapping_list_finish(struct uw_mapping_list *list)
{
	for (size_t i = 0; i < list->block_count; i++)
		free(list->blocks[i]);
	for (size_t i = 0; i < list->spare_count; i++)
		free(list->spare[i]);
	free(list->blocks);
	*list = (struct uw_mapping_list){0};
}

/* The first block whose last mapping ends after address. */
static size_t find_block(const struct uw_mapping_list *list, uint64_t address)
{
	size_t low = 0, high = list->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct uw_mapping_block *block = list->blocks[middle];

		if (block->items[block->count - 1].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct uw_mapping_place uw_mapping_list_find(const struct uw_mapping_list *list, uint64_t address)
{
	struct uw_mapping_place place = {.block = find_block(list, address)};
	size_t high =
		place.block < list->block_count ? list->blocks[place.block]->count : place.item;

	while (place.item < high) {
		size_t middle = place.item + (high - place.item) / 2;

		if (list->blocks[place.block]->items[middle].end <= address)
			place.item = middle + 1;
		else
			high = middle;
	}
	return place;
}

struct uw_mapping *uw_mapping_list_at(const struct uw_mapping_list *list,
				      struct uw_mapping_place place)
{
	return place.block < list->block_count ? &list->blocks[place.block]->items[place.item]
					       : NULL;
}

struct uw_mapping *uw_mapping_list_next(const struct uw_mapping_list *list,
					struct uw_mapping_place *place)
{
	struct uw_mapping *mapping = uw_mapping_list_at(list, *place);

	if (mapping && ++place->item == list->blocks[place->block]->count) {
		place->block++;
		place->item = 0;
	}
	return mapping;
}

/* Makes sure that so many more blocks can be added. */
static int reserve_blocks(struct uw_mapping_list *list, size_t more)
{
	size_t capacity = list->block_capacity ? list->block_capacity : FIRST_CAPACITY;

	while (capacity - list->block_count < more)
		capacity *= 2;
	if (capacity == list->block_capacity)
		return 0;
	struct uw_mapping_block **blocks =
		reallocarray(list->blocks, capacity, sizeof(struct uw_mapping_block *));
	if (!blocks) {
		errno = ENOMEM;
		return -1;
	}
	list->blocks = blocks;
	list->block_capacity = capacity;
	return 0;
}

int uw_mapping_list_reserve(struct uw_mapping_list *list)
{
	/* Most spaces have few mappings, which all fit into one block. */
	size_t more = list->count + UW_MAPPING_MORE > UW_MAPPING_BLOCK ? UW_MAPPING_MORE
								       : list->block_count == 0;

	if (reserve_blocks(list, more) < 0)
		return -1;
	while (list->spare_count < more) {
		list->spare[list->spare_count] = malloc(sizeof(struct uw_mapping_block));
		if (!list->spare[list->spare_count]) {
			errno = ENOMEM;
			return -1;
		}
		list->spare_count++;
	}
	return 0;
}

/* A block at an index, which takes what the one before it has from item `from` on. */
static void add_block(struct uw_mapping_list *list, size_t index, size_t from)
{
	struct uw_mapping_block *block = list->spare[--list->spare_count], *before;

	memmove(list->blocks + index + 1, list->blocks + index,
		(list->block_count - index) * sizeof(struct uw_mapping_block *));
	list->blocks[index] = block;
	list->block_count++;
	block->count = 0;
	if (index == 0)
		return;
	before = list->blocks[index - 1];
	block->count = before->count - from;
	memcpy(block->items, before->items + from, block->count * sizeof(block->items[0]));
	before->count = from;
}

/* Where there is room for a mapping before the one at a place. */
static struct uw_mapping_place make_room(struct uw_mapping_list *list,
					 struct uw_mapping_place place)
{
	/* The end is that of the last block. */
	if (place.block == list->block_count && place.block > 0)
		place.item = list->blocks[--place.block]->count;
	if (list->block_count == 0)
		add_block(list, 0, 0);
	if (list->blocks[place.block]->count < UW_MAPPING_BLOCK)
		return place;
	/* Where mappings come in order of address, blocks stay full. */
	size_t from = place.item == UW_MAPPING_BLOCK ? UW_MAPPING_BLOCK : UW_MAPPING_BLOCK / 2;
	add_block(list, place.block + 1, from);
	if (place.item < from)
		return place;
	return (struct uw_mapping_place){place.block + 1, place.item - from};
}

void uw_mapping_list_insert(struct uw_mapping_list *list, struct uw_mapping_place place,
			    const struct uw_mapping *mapping)
{
	place = make_room(list, place);
	struct uw_mapping_block *block = list->blocks[place.block];
	memmove(block->items + place.item + 1, block->items + place.item,
		(block->count - place.item) * sizeof(block->items[0]));
	block->items[place.item] = *mapping;
	block->count++;
	list->count++;
}

/* What comes in the place of the last mappings may need the block. */
static void put_aside(struct uw_mapping_list *list, struct uw_mapping_block *block)
{
	if (list->spare_count < UW_MAPPING_MORE)
		list->spare[list->spare_count++] = block;
	else
		free(block);
}

void uw_mapping_list_remove(struct uw_mapping_list *list, struct uw_mapping_place *place)
{
	struct uw_mapping_block *block = list->blocks[place->block];

	list->count--;
	block->count--;
	memmove(block->items + place->item, block->items + place->item + 1,
		(block->count - place->item) * sizeof(block->items[0]));
	if (block->count == 0) {
		list->block_count--;
		memmove(list->blocks + place->block, list->blocks + place->block + 1,
			(list->block_count - place->block) * sizeof(struct uw_mapping_block *));
		put_aside(list, block);
	} else if (place->item == block->count) {
		place->block++;
		place->item = 0;
	}
}

int uw_mapping_list_copy(struct uw_mapping_list *copy, const struct uw_mapping_list *list)
{
	struct uw_mapping_place from = {0};
	const struct uw_mapping *mapping;

	*copy = (struct uw_mapping_list){0};
	while ((mapping = uw_mapping_list_next(list, &from))) {
		if (uw_mapping_list_reserve(copy) < 0) {
			uw_mapping_list_finish(copy);
			return -1;
		}
		uw_mapping_list_insert(copy, (struct uw_mapping_place){copy->block_count, 0},
				       mapping);
	}
	return 0;
}
