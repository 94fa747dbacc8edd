#include "collector/mapping.h"

#include <stdlib.h>
#include <string.h>

void mapping_list_finish(struct mapping_list *list)
{
	free(list->items);
	*list = (struct mapping_list){0};
}

int mapping_list_copy(struct mapping_list *copy, const struct mapping_list *list)
{
	*copy = (struct mapping_list){0};
	if (list->count == 0)
		return 0;
	copy->items = malloc(list->count * sizeof(*copy->items));
	if (copy->items == NULL)
		return -1;
	memcpy(copy->items, list->items, list->count * sizeof(*copy->items));
	copy->count = copy->capacity = list->count;
	for (size_t i = 0; i < copy->count; i++)
		copy->items[i].written = false;
	return 0;
}

/* Index of the first mapping that ends after address. */
static size_t find_from(const struct mapping_list *list, uint64_t address)
{
	size_t low = 0;
	size_t high = list->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The new mapping and what it leaves over at both sides can make two more items. */
static int reserve(struct mapping_list *list)
{
	if (list->count + 2 <= list->capacity)
		return 0;
	size_t capacity = list->capacity < 8 ? 16 : list->capacity * 2;
	struct mapping *items = realloc(list->items, capacity * sizeof(*items));
	if (items == NULL)
		return -1;
	list->items = items;
	list->capacity = capacity;
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

int mapping_list_add(struct mapping_list *list, const struct mapping *mapping,
		     mapping_unload *unload, void *user, enum mapping_change *change, size_t *index)
{
	*change = MAPPING_SAME;
	if (mapping->start >= mapping->end)
		return 0;
	if (reserve(list) < 0)
		return -1;
	size_t first = find_from(list, mapping->start);
	if (first < list->count && is_same(&list->items[first], mapping))
		return 0;
	struct mapping replacement[3]; /* left over, new, left over */
	size_t replacements = 0;
	size_t last = first;
	*change = MAPPING_ADDED;
	while (last < list->count && list->items[last].start < mapping->end) {
		if (!agrees(&list->items[last], mapping))
			*change = MAPPING_REPLACED;
		unload(&list->items[last++], user);
	}
	if (last > first && list->items[first].start < mapping->start) {
		struct mapping left = list->items[first];
		left.end = mapping->start;
		left.load_ns = mapping->load_ns;
		left.written = false;
		replacement[replacements++] = left;
	}
	*index = first + replacements;
	replacement[replacements++] = *mapping;
	if (last > first && list->items[last - 1].end > mapping->end) {
		struct mapping right = list->items[last - 1];
		right.pgoff += mapping->end - right.start;
		right.start = mapping->end;
		right.load_ns = mapping->load_ns;
		right.written = false;
		replacement[replacements++] = right;
	}
	memmove(list->items + first + replacements, list->items + last,
		(list->count - last) * sizeof(*list->items));
	memcpy(list->items + first, replacement, replacements * sizeof(*replacement));
	list->count = list->count - (last - first) + replacements;
	return 0;
}
