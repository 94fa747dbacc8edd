#include "collector/stream/merge.h"

#include <stdlib.h>

/* The record at one ring's tail. */
struct head {
	const void *bytes;
	size_t size;
	uint64_t time_ns;
	bool present;
};

struct merge {
	struct ring *rings;
	struct head *heads;
	size_t count;
	struct record_format format;
	uint64_t limit_ns;
	uint64_t last_ns;
	size_t pending; /* ring whose record was handed out and is to be consumed; count: none */
	struct merge_counts counts;
};

struct merge *merge_create(struct ring *rings, size_t count, const struct record_format *format)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	struct head *heads = calloc(count, sizeof(*heads));
	if (!merge || !heads) {
		free(merge);
		free(heads);
		return NULL;
	}
	*merge = (struct merge){.rings = rings,
				.heads = heads,
				.count = count,
				.format = *format,
				.pending = count};
	return merge;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	free(merge->heads);
	free(merge);
}

static void load_head(struct merge *merge, size_t index)
{
	struct head *head = &merge->heads[index];
	struct ring *ring = &merge->rings[index];
	head->present = false;
	while (!head->present && ring_peek(ring, &head->bytes, &head->size)) {
		head->present = record_time(head->bytes, head->size, &head->time_ns);
		if (!head->present) {
			merge->counts.malformed++;
			ring_consume(ring, head->size);
		}
	}
}

void merge_begin(struct merge *merge, uint64_t limit_ns)
{
	merge->limit_ns = limit_ns;
	for (size_t i = 0; i < merge->count; i++) {
		ring_refresh(&merge->rings[i]);
		load_head(merge, i);
	}
}

static size_t find_oldest(const struct merge *merge)
{
	size_t oldest = merge->count;
	for (size_t i = 0; i < merge->count; i++) {
		const struct head *head = &merge->heads[i];
		if (!head->present || head->time_ns > merge->limit_ns)
			continue;
		if (oldest == merge->count || head->time_ns < merge->heads[oldest].time_ns)
			oldest = i;
	}
	return oldest;
}

static void consume_pending(struct merge *merge)
{
	if (merge->pending == merge->count)
		return;
	size_t index = merge->pending;
	merge->pending = merge->count;
	ring_consume(&merge->rings[index], merge->heads[index].size);
	load_head(merge, index);
}

bool merge_next(struct merge *merge, struct record *record, size_t *ring_index)
{
	for (;;) {
		consume_pending(merge);
		size_t index = find_oldest(merge);
		if (index == merge->count)
			return false;
		merge->pending = index;
		const struct head *head = &merge->heads[index];
		if (!record_decode(&merge->format, head->bytes, head->size, record)) {
			merge->counts.malformed++;
			continue;
		}
		merge->counts.records++;
		/* A sample in an interrupt comes before the account that was being sent. It stands
		 * for itself: nothing else hangs on its time. */
		if (head->time_ns >= merge->last_ns)
			merge->last_ns = head->time_ns;
		else if (record->kind != RECORD_ACCOUNT)
			merge->counts.out_of_order++;
		*ring_index = index;
		return true;
	}
}

void merge_end(struct merge *merge)
{
	consume_pending(merge);
}

void merge_counts(const struct merge *merge, struct merge_counts *counts)
{
	*counts = merge->counts;
	for (size_t i = 0; i < merge->count; i++) {
		counts->broken += merge->rings[i].broken;
		counts->dropped_bytes += merge->rings[i].dropped_bytes;
	}
}
