#include "collector/model/mapping.h"

_Static_assert(offsetof(struct mapping, start) == 0 &&
		       offsetof(struct mapping, end) == sizeof(uint64_t) &&
		       sizeof(struct mapping) % 8 == 0,
	       "as containers/ranges.h wants ranges");

struct mapping *mapping_list_find(const struct ranges *list, uint64_t address)
{
	return ranges_at(list, ranges_find(list, address));
}

int mapping_list_copy(struct ranges *copy, const struct ranges *list)
{
	if (!ranges_copy(copy, list))
		return -1;
	struct ranges_place place = {0};
	for (struct mapping *mapping; (mapping = ranges_next(copy, &place));)
		mapping->written = false;
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
static const struct mapping *overlapped(const struct ranges *list, struct ranges_place place,
					uint64_t end)
{
	const struct mapping *item = ranges_at(list, place);
	return item && item->start < end ? item : NULL;
}

int mapping_list_add(struct ranges *list, const struct mapping *mapping, mapping_unload *unload,
		     void *user, enum mapping_change *change)
{
	*change = MAPPING_SAME;
	if (mapping->start >= mapping->end)
		return 0;
	if (!ranges_reserve(list, sizeof(*mapping)))
		return -1;
	struct ranges_place place = ranges_find(list, mapping->start);
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
		ranges_remove(list, &place);
	}
	left.load_ns = right.load_ns = mapping->load_ns;
	left.written = right.written = false;
	if (left.end > 0)
		ranges_insert(list, &place, &left);
	ranges_insert(list, &place, mapping);
	if (right.end > 0)
		ranges_insert(list, &place, &right);
	return 0;
}
