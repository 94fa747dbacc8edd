#include "tools/intervals/spans.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

struct loading {
	struct spans *spans;
	spans_choice *choose;
	void *user;
	uint64_t *keys; /* of the spans: their owners are numbered at the end */
	size_t key_capacity;
};

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static int compare_keys(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	int order = compare_numbers(left->owner, right->owner);
	return order ? order : compare_numbers(left->start_tsc, right->start_tsc);
}

const struct spans_owner *spans_find_owner(const struct spans_owner *owners, size_t count,
					   uint64_t key)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (owners[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && owners[low].key == key ? &owners[low] : NULL;
}

static bool take_interval(const struct profile_interval *interval, void *user)
{
	struct loading *loading = user;
	struct spans *spans = loading->spans;
	uint32_t item = loading->choose(interval, loading->user);
	/* An interval without length holds no moment. */
	if (item == SPANS_NOT || interval->end_tsc == interval->start_tsc)
		return true;
	xalloc_room(&spans->spans, &spans->capacity, spans->count + 1, sizeof(*spans->spans));
	xalloc_room(&loading->keys, &loading->key_capacity, spans->count + 1,
		    sizeof(*loading->keys));
	loading->keys[spans->count] = key_of(interval->pid, interval->tid);
	spans->spans[spans->count++] = (struct span){.start_tsc = interval->start_tsc,
						     .end_tsc = interval->end_tsc,
						     .item = item};
	return true;
}

static void add_owner(struct spans *spans, uint64_t key)
{
	xalloc_room(&spans->owners, &spans->owner_capacity, spans->owner_count + 1,
		    sizeof(*spans->owners));
	spans->owners[spans->owner_count++] = (struct spans_owner){.key = key};
}

/* Numbers the owners in the order of their keys. */
static void number_owners(struct loading *loading)
{
	struct spans *spans = loading->spans;
	uint64_t *sorted = xalloc_zeroed(spans->count, sizeof(*sorted));
	size_t distinct = 0;
	/* Most neighbours have one owner. */
	for (size_t i = 0; i < spans->count; i++)
		if (i == 0 || loading->keys[i] != loading->keys[i - 1])
			sorted[distinct++] = loading->keys[i];
	if (distinct > 1)
		qsort(sorted, distinct, sizeof(*sorted), compare_keys);
	for (size_t i = 0; i < distinct; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			add_owner(spans, sorted[i]);
	free(sorted);
	for (size_t i = 0; i < spans->count; i++) {
		const struct spans_owner *owner =
			spans_find_owner(spans->owners, spans->owner_count, loading->keys[i]);
		spans->spans[i].owner = (uint32_t)(owner - spans->owners);
	}
}

static void sort_spans(struct spans *spans)
{
	bool is_sorted = true;
	for (size_t i = 1; i < spans->count && is_sorted; i++)
		is_sorted = compare_spans(&spans->spans[i - 1], &spans->spans[i]) <= 0;
	if (!is_sorted)
		qsort(spans->spans, spans->count, sizeof(*spans->spans), compare_spans);
}

/* Joins an owner's spans of one item that overlap: a moment lies in one of them. */
static void join_spans(struct spans *spans)
{
	uint32_t items = 0;
	size_t kept = 0;
	for (size_t i = 0; i < spans->count; i++)
		if (spans->spans[i].item >= items)
			items = spans->spans[i].item + 1;
	size_t *latest = xalloc_zeroed(items, sizeof(*latest)); /* by item: its place, plus 1 */
	for (size_t i = 0; i < spans->count; i++) {
		const struct span span = spans->spans[i];
		struct span *before =
			latest[span.item] ? &spans->spans[latest[span.item] - 1] : NULL;
		if (before && before->owner == span.owner && before->end_tsc >= span.start_tsc) {
			if (span.end_tsc > before->end_tsc)
				before->end_tsc = span.end_tsc;
			continue;
		}
		spans->spans[kept++] = span;
		latest[span.item] = kept;
	}
	spans->count = kept;
	free(latest);
}

/* A part of sorted spans is a tree: its middle one, with the parts before and behind. */
static uint64_t find_last(struct span *spans, size_t count)
{
	if (count == 0)
		return 0;
	struct span *middle = &spans[count / 2];
	uint64_t before = find_last(spans, count / 2);
	uint64_t behind = find_last(middle + 1, count - count / 2 - 1);
	middle->last_tsc = middle->end_tsc;
	if (before > middle->last_tsc)
		middle->last_tsc = before;
	if (behind > middle->last_tsc)
		middle->last_tsc = behind;
	return middle->last_tsc;
}

/* Finds each owner's spans, in their order. */
static void number_spans(struct spans *spans)
{
	for (size_t i = 0; i < spans->owner_count; i++)
		spans->owners[i].count = 0;
	for (size_t i = 0; i < spans->count; i++) {
		struct spans_owner *owner = &spans->owners[spans->spans[i].owner];
		if (owner->count++ == 0)
			owner->first = i;
	}
	for (size_t i = 0; i < spans->owner_count; i++)
		if (spans->owners[i].count > 0)
			find_last(spans->spans + spans->owners[i].first, spans->owners[i].count);
}

TBRW_U32 spans_load(struct spans *spans, struct profile_reader *reader, spans_choice *choose,
		    void *user)
{
	struct loading loading = {.spans = spans, .choose = choose, .user = user};
	*spans = (struct spans){0};
	TBRW_U32 code = profile_reader_each_interval(reader, take_interval, &loading);
	if (code == VT_SUCCESS && spans->count > 0) {
		number_owners(&loading);
		sort_spans(spans);
		join_spans(spans);
		number_spans(spans);
	}
	free(loading.keys);
	if (code != VT_SUCCESS)
		spans_finish(spans);
	return code;
}

void spans_finish(struct spans *spans)
{
	free(spans->spans);
	free(spans->owners);
	memset(spans, 0, sizeof(*spans));
}

void spans_part(struct spans *spans, const bool *are_taken, struct spans *taken)
{
	size_t kept = 0;
	*taken = (struct spans){0};
	for (size_t i = 0; i < spans->owner_count; i++)
		add_owner(taken, spans->owners[i].key);
	for (size_t i = 0; i < spans->count; i++) {
		if (!are_taken[spans->spans[i].item]) {
			spans->spans[kept++] = spans->spans[i];
			continue;
		}
		xalloc_room(&taken->spans, &taken->capacity, taken->count + 1,
			    sizeof(*taken->spans));
		taken->spans[taken->count++] = spans->spans[i];
	}
	spans->count = kept;
	number_spans(spans);
	number_spans(taken);
}

/* Ids of 0 in the sample make keys the same. */
size_t spans_keys_of(uint32_t pid, uint32_t tid, uint64_t keys[SPANS_KEYS])
{
	const uint64_t all[] = {key_of(pid, tid), key_of(0, tid), key_of(pid, 0), key_of(0, 0)};
	size_t count = 0;
	for (size_t i = 0; i < SPANS_KEYS; i++) {
		bool is_first = true;
		for (size_t k = 0; k < i; k++)
			is_first = is_first && all[k] != all[i];
		if (is_first)
			keys[count++] = all[i];
	}
	return count;
}

struct query {
	uint64_t tsc;
	spans_callback *callback; /* NULL: finds the innermost span */
	void *user;
	const struct span *innermost; /* so far */
};

static bool is_inside(const struct span *span, const struct span *other)
{
	return span->start_tsc > other->start_tsc ||
	       (span->start_tsc == other->start_tsc && span->end_tsc < other->end_tsc);
}

static bool take_span(struct query *query, const struct span *span)
{
	if (query->callback)
		return query->callback(span->item, query->user);
	if (!query->innermost || is_inside(span, query->innermost))
		query->innermost = span;
	return true;
}

static bool visit_part(struct query *query, const struct span *spans, size_t count)
{
	while (count > 0) {
		const struct span *middle = &spans[count / 2];
		if (middle->last_tsc <= query->tsc)
			return true;
		if (!visit_part(query, spans, count / 2))
			return false;
		if (middle->start_tsc > query->tsc)
			return true;
		if (middle->end_tsc > query->tsc && !take_span(query, middle))
			return false;
		spans = middle + 1;
		count -= count / 2 + 1;
	}
	return true;
}

static bool visit_owners(const struct spans *spans, struct query *query, uint32_t pid, uint32_t tid)
{
	uint64_t keys[SPANS_KEYS];
	size_t count = spans_keys_of(pid, tid, keys);
	for (size_t i = 0; i < count; i++) {
		const struct spans_owner *owner =
			spans_find_owner(spans->owners, spans->owner_count, keys[i]);
		if (owner && !visit_part(query, spans->spans + owner->first, owner->count))
			return false;
	}
	return true;
}

bool spans_at(const struct spans *spans, uint32_t pid, uint32_t tid, uint64_t tsc,
	      spans_callback *callback, void *user)
{
	struct query query = {.tsc = tsc, .callback = callback, .user = user};
	return visit_owners(spans, &query, pid, tid);
}

uint32_t spans_innermost(const struct spans *spans, uint32_t pid, uint32_t tid, uint64_t tsc)
{
	struct query query = {.tsc = tsc};
	visit_owners(spans, &query, pid, tid);
	return query.innermost ? query.innermost->item : SPANS_NOT;
}
