/*
 * Ranges of addresses without overlaps, in order of address. A range is a struct of its user whose
 * first two members are uint64_t: its start, and its end (the first address behind). Ranges stand
 * in blocks: adding one moves few others, however many ranges there are, and in whatever order
 * ranges are added.
 *
 *   struct mapping {
 *           uint64_t start, end;
 *           uint32_t image;
 *   };
 *   if (!ranges_reserve(&list, sizeof(struct mapping)))
 *           return false;
 *   struct ranges_place place = ranges_find(&list, mapping.start);
 *   ranges_insert(&list, &place, &mapping);
 *
 * Not thread-safe.
 */
#ifndef CONTAINERS_RANGES_H
#define CONTAINERS_RANGES_H

#include "containers/array.h"
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	RANGES_BLOCK = 64, /* ranges in a block */
	RANGES_MORE = 3    /* made room for by ranges_reserve */
};

struct ranges_block {
	size_t count;
	uint64_t items[];
};

/* All zero: no ranges. */
struct ranges {
	size_t count;
	size_t size;                  /* of a user's struct in bytes, a multiple of 8 */
	struct ranges_block **blocks; /* none of them empty */
	size_t block_count, block_capacity;
	struct ranges_block *spare[RANGES_MORE];
	size_t spare_count;
};

/* The place of a range, or the end behind the last one. All zero: the first place. Valid until
 * ranges are added or removed. */
struct ranges_place {
	size_t block, item;
};

static inline uint64_t *ranges_item(const struct ranges *ranges, size_t block, size_t item)
{
	return ranges->blocks[block]->items + item * (ranges->size / sizeof(uint64_t));
}

/* The range at a place; NULL: the end. Valid until ranges are added or removed. */
static inline void *ranges_at(const struct ranges *ranges, struct ranges_place place)
{
	return place.block < ranges->block_count ? ranges_item(ranges, place.block, place.item)
						 : NULL;
}

/* Turns a place right behind a block's last range into the next block's first. */
static inline struct ranges_place ranges_settle(const struct ranges *ranges,
						struct ranges_place place)
{
	if (place.block < ranges->block_count && place.item == ranges->blocks[place.block]->count)
		return (struct ranges_place){place.block + 1, 0};
	return place;
}

/* The range at a place; NULL: the end. Moves the place on to the next range. */
static inline void *ranges_next(const struct ranges *ranges, struct ranges_place *place)
{
	void *range = ranges_at(ranges, *place);
	if (range) {
		place->item++;
		*place = ranges_settle(ranges, *place);
	}
	return range;
}

/* The place of the first range that ends after address, or the end. */
static inline struct ranges_place ranges_find(const struct ranges *ranges, uint64_t address)
{
	struct ranges_place place = {0};
	size_t high = ranges->block_count;
	while (place.block < high) {
		size_t middle = place.block + (high - place.block) / 2;
		if (ranges_item(ranges, middle, ranges->blocks[middle]->count - 1)[1] <= address)
			place.block = middle + 1;
		else
			high = middle;
	}
	high = place.block < ranges->block_count ? ranges->blocks[place.block]->count : 0;
	while (place.item < high) {
		size_t middle = place.item + (high - place.item) / 2;
		if (ranges_item(ranges, place.block, middle)[1] <= address)
			place.item = middle + 1;
		else
			high = middle;
	}
	return place;
}

/* Reserves memory for RANGES_MORE insertions of ranges of `size` bytes each. false: out of memory;
 * nothing has changed. */
static inline bool ranges_reserve(struct ranges *ranges, size_t size)
{
	assert(size % sizeof(uint64_t) == 0 && (ranges->count == 0 || size == ranges->size));
	ranges->size = size;
	/* Most lists are short, and fit into one block. */
	size_t more =
		ranges->count + RANGES_MORE > RANGES_BLOCK ? RANGES_MORE : ranges->block_count == 0;
	if (!array_reserve(&ranges->blocks, &ranges->block_capacity, ranges->block_count + more,
			   sizeof(struct ranges_block *)))
		return false;
	while (ranges->spare_count < more) {
		struct ranges_block *block =
			malloc(sizeof(struct ranges_block) + RANGES_BLOCK * size);
		if (!block)
			return false;
		ranges->spare[ranges->spare_count++] = block;
	}
	return true;
}

/* Inserts a reserved block at an index; ranges from `from` on move there from the block before. */
static inline void ranges_add_block(struct ranges *ranges, size_t index, size_t from)
{
	assert(ranges->spare_count > 0 && ranges->block_count < ranges->block_capacity);
	struct ranges_block *block = ranges->spare[--ranges->spare_count];
	memmove(ranges->blocks + index + 1, ranges->blocks + index,
		(ranges->block_count++ - index) * sizeof(struct ranges_block *));
	ranges->blocks[index] = block;
	block->count = 0;
	if (index == 0)
		return;
	struct ranges_block *before = ranges->blocks[index - 1];
	block->count = before->count - from;
	memcpy(block->items, ranges_item(ranges, index - 1, from), block->count * ranges->size);
	before->count = from;
}

/* Inserts a range before the one at a place, and moves the place behind the new range. The range
 * must overlap no other. Room for it must be reserved (ranges_reserve). */
static inline void ranges_insert(struct ranges *ranges, struct ranges_place *place,
				 const void *range)
{
	const uint64_t *inserted = range;
	const uint64_t *next = ranges_at(ranges, *place);
	assert(!next || inserted[1] <= next[0]);
	(void)inserted; /* both: used by assertions alone */
	(void)next;
	if (ranges->block_count == 0)
		ranges_add_block(ranges, 0, 0);
	/* The end belongs to the last block. */
	if (place->block == ranges->block_count)
		place->item = ranges->blocks[--place->block]->count;
	if (ranges->blocks[place->block]->count == RANGES_BLOCK) {
		/* Ranges inserted in order of address fill whole blocks. */
		size_t from = place->item == RANGES_BLOCK ? RANGES_BLOCK : RANGES_BLOCK / 2;
		ranges_add_block(ranges, place->block + 1, from);
		if (place->item >= from)
			*place = (struct ranges_place){place->block + 1, place->item - from};
	}
	struct ranges_block *block = ranges->blocks[place->block];
	uint64_t *item = ranges_item(ranges, place->block, place->item);
	assert(place->item == 0 ||
	       item[1 - (ptrdiff_t)(ranges->size / sizeof(*item))] <= inserted[0]);
	memmove((char *)item + ranges->size, item, (block->count++ - place->item) * ranges->size);
	memcpy(item, range, ranges->size);
	ranges->count++;
	place->item++;
	*place = ranges_settle(ranges, *place);
}

/* Removes the range at a place, which becomes the next range's. */
static inline void ranges_remove(struct ranges *ranges, struct ranges_place *place)
{
	assert(place->block < ranges->block_count);
	struct ranges_block *block = ranges->blocks[place->block];
	assert(place->item < block->count);
	uint64_t *item = ranges_item(ranges, place->block, place->item);
	ranges->count--;
	memmove(item, (char *)item + ranges->size, (--block->count - place->item) * ranges->size);
	if (block->count == 0) {
		memmove(ranges->blocks + place->block, ranges->blocks + place->block + 1,
			(--ranges->block_count - place->block) * sizeof(struct ranges_block *));
		/* Ranges inserted in place of the last ones may need the block. */
		if (ranges->spare_count < RANGES_MORE)
			ranges->spare[ranges->spare_count++] = block;
		else
			free(block);
	}
	*place = ranges_settle(ranges, *place);
}

/* Frees all ranges; the list is empty then. */
static inline void ranges_finish(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->block_count; i++)
		free(ranges->blocks[i]);
	for (size_t i = 0; i < ranges->spare_count; i++)
		free(ranges->spare[i]);
	free(ranges->blocks);
	*ranges = (struct ranges){0};
}

/* Copies all ranges to *copy, in as few blocks as possible. false: out of memory, *copy empty. */
static inline bool ranges_copy(struct ranges *copy, const struct ranges *ranges)
{
	*copy = (struct ranges){0};
	struct ranges_place from = {0}, to = {0};
	for (const void *range; (range = ranges_next(ranges, &from));) {
		if (!ranges_reserve(copy, ranges->size)) {
			ranges_finish(copy);
			return false;
		}
		ranges_insert(copy, &to, range);
	}
	return true;
}

#endif
