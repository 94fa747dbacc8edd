#include "tbrw/bind/life.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Records of the same moment keep the order they were written in. */
static int event_compare(const void *a, const void *b)
{
	const struct tb5_life_event *x = a;
	const struct tb5_life_event *y = b;
	int order = compare(x->pid, y->pid);

	if (!order)
		order = compare(x->tid, y->tid);
	if (!order)
		order = compare(x->when, y->when);
	return order ? order : compare(x->index, y->index);
}

bool tb5_lives_build(struct tb5_lives *lives, struct tb5_life_event *events, size_t count)
{
	struct tb5_life *last = NULL;
	struct tb5_life *open = NULL;

	*lives = (struct tb5_lives){NULL, 0};
	if (!count)
		return true;
	lives->items = malloc(count * sizeof(*lives->items));
	if (!lives->items)
		return false;
	qsort(events, count, sizeof(*events), event_compare);
	for (size_t i = 0; i < count; i++) {
		const struct tb5_life_event *e = &events[i];

		if (open && (open->pid != e->pid || open->tid != e->tid))
			open = NULL;
		if (e->terminate) {
			if (open) {
				open->end = e->when == UINT64_MAX ? e->when : e->when + 1;
				open->terminate_index = e->index;
			}
			open = NULL;
			continue;
		}
		if (last && last->pid == e->pid && last->tid == e->tid && last->end > e->when)
			last->end = e->when;
		open = &lives->items[lives->count++];
		last = open;
		*open = (struct tb5_life){e->pid,     e->tid,   e->when,
					  UINT64_MAX, e->index, UINT64_MAX};
	}
	return true;
}

void tb5_lives_finish(struct tb5_lives *lives)
{
	free(lives->items);
	lives->items = NULL;
	lives->count = 0;
}

size_t tb5_lives_position(const struct tb5_lives *lives, uint32_t pid, uint32_t tid, uint64_t when)
{
	size_t low = 0;
	size_t high = lives->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tb5_life *life = &lives->items[middle];
		int order = compare(life->pid, pid);

		if (!order)
			order = compare(life->tid, tid);
		if (!order)
			order = compare(life->start, when);
		if (order <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct tb5_life *tb5_lives_at(const struct tb5_lives *lives, size_t position, uint32_t pid,
				    uint32_t tid, uint64_t when)
{
	if (!position)
		return NULL;
	const struct tb5_life *life = &lives->items[position - 1];
	return life->pid == pid && life->tid == tid && when < life->end ? life : NULL;
}

const struct tb5_life *tb5_lives_next(const struct tb5_lives *lives, size_t position, uint32_t pid,
				      uint32_t tid)
{
	if (position >= lives->count)
		return NULL;
	const struct tb5_life *life = &lives->items[position];
	return life->pid == pid && life->tid == tid ? life : NULL;
}
