#include "profile/read/lives.h"

#include <stdlib.h>

/* While adding, a cut is an item that starts and ends at its time and has this as its record. */
#define RECORD_CUT (PROFILE_LIFE_NONE - 1)

void profile_lives_finish(struct profile_lives *lives)
{
	free(lives->items);
	profile_idmap_finish(&lives->extra);
	*lives = (struct profile_lives){0};
}

static bool push(struct profile_lives *lives, const struct profile_life *life)
{
	if (lives->count == lives->capacity) {
		if (lives->capacity > UINT32_MAX / 4)
			return false;
		uint32_t capacity = lives->capacity ? lives->capacity * 2 : 64;
		struct profile_life *items = reallocarray(lives->items, capacity, sizeof(*items));
		if (!items)
			return false;
		lives->items = items;
		lives->capacity = capacity;
	}
	lives->items[lives->count++] = *life;
	return true;
}

bool profile_lives_add(struct profile_lives *lives, uint64_t key, uint64_t start, uint64_t end,
		       uint32_t record)
{
	struct profile_life life = {
		.key = key,
		.start = start,
		.end = end < start ? start : end,
		.record = record,
		.is_gap = record == PROFILE_LIFE_NONE,
	};

	return push(lives, &life);
}

bool profile_lives_cut(struct profile_lives *lives, uint64_t key, uint64_t tsc)
{
	return profile_lives_add(lives, key, tsc, tsc, RECORD_CUT);
}

static int compare_lives(const void *left, const void *right)
{
	const struct profile_life *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->record < b->record ? -1 : a->record > b->record;
}

/* Appends the gap from *from up to `to`, if it has any length. */
static bool push_gap(struct profile_lives *out, uint64_t key, uint64_t from, uint64_t to)
{
	return from >= to || profile_lives_add(out, key, from, to, PROFILE_LIFE_NONE);
}

/* Lays out the lives and gaps of one key: items[0..count) of the sorted input. */
static bool seal_key(struct profile_lives *out, const struct profile_life *items, uint32_t count)
{
	uint64_t key = items[0].key;
	uint64_t from = 0; /* everything before is laid out */

	for (uint32_t i = 0; i < count; i++) {
		struct profile_life life = items[i];
		if (!push_gap(out, key, from, life.start))
			return false;
		if (from < life.start)
			from = life.start;
		if (life.record == RECORD_CUT)
			continue;
		uint32_t next = i + 1;
		while (next < count && items[next].record == RECORD_CUT)
			next++;
		if (next < count && items[next].start < life.end)
			life.end = items[next].start;
		if (!push(out, &life))
			return false;
		if (from < life.end)
			from = life.end;
	}
	return push_gap(out, key, from, UINT64_MAX);
}

bool profile_lives_seal(struct profile_lives *lives)
{
	struct profile_lives out = {0};

	if (lives->count > 1)
		qsort(lives->items, lives->count, sizeof(*lives->items), compare_lives);
	for (uint32_t i = 0; i < lives->count;) {
		uint32_t end = i + 1;
		while (end < lives->count && lives->items[end].key == lives->items[i].key)
			end++;
		if (!seal_key(&out, lives->items + i, end - i)) {
			profile_lives_finish(&out);
			return false;
		}
		i = end;
	}
	free(lives->items);
	lives->items = out.items;
	lives->count = lives->sorted = out.count;
	lives->capacity = out.capacity;
	lives->memo = 0;
	return true;
}

static bool covers(const struct profile_life *life, uint64_t key, uint64_t tsc)
{
	return life->key == key && life->start <= tsc &&
	       (tsc < life->end || life->end == UINT64_MAX);
}

struct profile_life *profile_lives_at(struct profile_lives *lives, uint64_t key, uint64_t tsc)
{
	if (lives->memo < lives->count && covers(&lives->items[lives->memo], key, tsc))
		return &lives->items[lives->memo];
	uint32_t low = 0,
		 high = lives->sorted; /* the last item at or before (key, tsc) is below high */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct profile_life *life = &lives->items[middle];
		if (life->key < key || (life->key == key && life->start <= tsc))
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t at = PROFILE_LIFE_NONE;
	if (low > 0 && lives->items[low - 1].key == key)
		at = low - 1;
	else
		at = profile_idmap_get(&lives->extra, key);
	if (at == PROFILE_LIFE_NONE)
		return NULL;
	lives->memo = at;
	return &lives->items[at];
}

struct profile_life *profile_lives_find(struct profile_lives *lives, uint64_t key, uint64_t tsc)
{
	struct profile_life *life = profile_lives_at(lives, key, tsc);

	if (life && life->record == PROFILE_LIFE_NONE && life->start == tsc &&
	    life > lives->items && life[-1].key == key && life[-1].record != PROFILE_LIFE_NONE)
		return life - 1;
	return life;
}

struct profile_life *profile_lives_need(struct profile_lives *lives, uint64_t key, uint64_t tsc)
{
	struct profile_life *life = profile_lives_find(lives, key, tsc);

	if (life)
		return life;
	if (!profile_lives_add(lives, key, 0, UINT64_MAX, PROFILE_LIFE_NONE))
		return NULL;
	if (!profile_idmap_put(&lives->extra, key, lives->count - 1)) {
		lives->count--;
		return NULL;
	}
	return &lives->items[lives->count - 1];
}
