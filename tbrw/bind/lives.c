#include "tbrw/bind/lives.h"

#include "containers/array.h"
#include "containers/compare.h"
#include "tbrw/tbrw_types.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TB5_LIVES_MEMO == 1 << (64 - 55), "the bits of the hash that tb5_lives_at takes");
_Static_assert(TBRW_PID_CREATE == TBRW_TID_CREATE && TBRW_PID_TERMINATE == TBRW_TID_TERMINATE &&
		       TBRW_PID_TSC_USED == TBRW_TID_TSC_USED,
	       "one rule for both");

void tb5_lives_finish(struct tb5_lives *lives)
{
	free(lives->items);
	*lives = (struct tb5_lives){0};
}

/* Before sealing, a termination is an item of its own without a creation. */
static bool is_cut(const struct tb5_life *life)
{
	return life->record == TB5_LIFE_NONE && life->end_record == TB5_LIFE_NONE;
}

static bool add_item(struct tb5_lives *lives, const struct tb5_life *life)
{
	if (!array_reserve(&lives->items, &lives->capacity, lives->count + 1,
			   sizeof(*lives->items)))
		return false;
	lives->items[lives->count++] = *life;
	return true;
}

bool tb5_lives_add(struct tb5_lives *lives, uint64_t key, uint32_t flags, uint64_t when,
		   uint64_t record)
{
	bool is_timed = flags & TBRW_PID_TSC_USED;

	if (flags & TBRW_PID_CREATE || !(flags & TBRW_PID_TERMINATE))
		return add_item(lives, &(struct tb5_life){key, is_timed ? when : 0, UINT64_MAX,
							  record, TB5_LIFE_NONE, 0});
	if (!is_timed)
		return true;
	return add_item(lives, &(struct tb5_life){key, when, when, TB5_LIFE_NONE, record, 0});
}

bool tb5_lives_cut(struct tb5_lives *lives, uint64_t key, uint64_t when)
{
	return add_item(lives,
			&(struct tb5_life){key, when, when, TB5_LIFE_NONE, TB5_LIFE_NONE, 0});
}

/* Of one moment in the order they were written in, cuts last. */
static int compare_items(const void *left, const void *right)
{
	const struct tb5_life *a = left, *b = right;
	int order = compare_numbers(a->key, b->key);

	if (!order)
		order = compare_numbers(a->start, b->start);
	if (!order)
		order = compare_numbers(a->record != TB5_LIFE_NONE ? a->record : a->end_record,
					b->record != TB5_LIFE_NONE ? b->record : b->end_record);
	return order ? order : (a->record != TB5_LIFE_NONE) - (b->record != TB5_LIFE_NONE);
}

/* Execs: one life ends at the moment the next one begins. */
static void link_execs(struct tb5_lives *lives)
{
	for (size_t i = lives->count; i-- > 0;) {
		struct tb5_life *life = &lives->items[i];
		const struct tb5_life *next = tb5_lives_item(lives, life->key, i + 2);
		bool is_exec = !is_cut(life) && next && !is_cut(next) && next->start == life->end;
		life->last = is_exec ? next->last : i;
		assert(life->last >= i && life->last < lives->count && life->start <= life->end);
	}
}

/* Goes through the items in order of time, and keeps the lives and the cuts in gaps. */
void tb5_lives_seal(struct tb5_lives *lives)
{
	struct tb5_life *last = NULL;  /* of the lives kept */
	struct tb5_life *open = NULL;  /* the same, as long as a termination may end it */
	struct tb5_life *older = NULL; /* the life open when this one began */
	size_t kept = 0;

	if (lives->count)
		qsort(lives->items, lives->count, sizeof(*lives->items), compare_items);
	for (size_t i = 0; i < lives->count; i++) {
		struct tb5_life item = lives->items[i];
		if (last && last->key != item.key)
			last = open = older = NULL;
		if (item.record != TB5_LIFE_NONE) {
			if (open)
				open->end = item.start;
			older = open;
			last = open = &lives->items[kept++];
			*last = item;
		} else if (item.end_record != TB5_LIFE_NONE) {
			if (older && older->end == item.end) {
				older->end_record = item.end_record;
				older = NULL;
			} else if (open) {
				open->end = item.end;
				open->end_record = item.end_record;
				open = NULL;
			}
		} else if (!last || last->end <= item.start) {
			lives->items[kept++] = item;
		}
	}
	assert(kept <= lives->count);
	lives->count = kept;
	memset(lives->memo, 0, sizeof(lives->memo));
	link_execs(lives);
}

const struct tb5_life *tb5_lives_item(const struct tb5_lives *lives, uint64_t key, size_t position)
{
	return position > 0 && position <= lives->count && lives->items[position - 1].key == key
		       ? &lives->items[position - 1]
		       : NULL;
}

/* Whether an item begins before or at a moment, in the order of all items. */
static bool begins_by(const struct tb5_life *life, uint64_t key, uint64_t when)
{
	return life->key < key || (life->key == key && life->start <= when);
}

static size_t find_position(const struct tb5_lives *lives, uint64_t key, uint64_t when)
{
	size_t low = 0, high = lives->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (begins_by(&lives->items[middle], key, when))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct tb5_life *tb5_lives_at(struct tb5_lives *lives, uint64_t key, uint64_t when,
				    size_t *position)
{
	size_t *memo = &lives->memo[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
	size_t at = *memo;

	assert(at <= lives->count);
	if ((at > 0 && !begins_by(&lives->items[at - 1], key, when)) ||
	    (at < lives->count && begins_by(&lives->items[at], key, when)))
		at = *memo = find_position(lives, key, when);
	*position = at;
	const struct tb5_life *life = tb5_lives_item(lives, key, at);
	return life && !is_cut(life) && when <= life->end ? life : NULL;
}

uint64_t tb5_lives_end(const struct tb5_lives *lives, uint64_t key, size_t position, bool is_gap)
{
	const struct tb5_life *life = tb5_lives_item(lives, key, position);
	const struct tb5_life *next = tb5_lives_item(lives, key, position + 1);
	uint64_t end = UINT64_MAX;

	assert(is_gap || life);
	if (!is_gap && life->end != UINT64_MAX)
		end = life->end + 1;
	return next && next->start < end ? next->start : end;
}
