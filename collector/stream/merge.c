#include "collector/stream/merge.h"

#include <assert.h>
#include <stdlib.h>

/* The next record of a source. */
struct head {
	const void *bytes;
	size_t size;
	uint64_t time_ns;
	bool is_present;
};

struct merge {
	const struct source *sources;
	struct head *heads;
	size_t count;
	uint64_t limit_ns;
	uint64_t last_ns;
	size_t pending; /* source whose record was handed out and is to be consumed; count: none */
	struct merge_counts counts;
};

struct merge *merge_create(const struct source *sources, size_t count)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	struct head *heads = calloc(count, sizeof(*heads));
	if (!merge || !heads) {
		free(merge);
		free(heads);
		return NULL;
	}
	*merge = (struct merge){.sources = sources,
				.heads = heads,
				.count = count,
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
	const struct source *source = &merge->sources[index];
	head->is_present = false;
	while (!head->is_present && source->kind->peek(source, &head->bytes, &head->size)) {
		head->is_present =
			source->kind->time(source, head->bytes, head->size, &head->time_ns);
		if (!head->is_present) {
			merge->counts.malformed++;
			source->kind->consume(source, head->size);
		}
	}
}

void merge_end(struct merge *merge)
{
	size_t index = merge->pending;
	if (index == merge->count)
		return;
	assert(merge->heads[index].is_present);
	merge->pending = merge->count;
	merge->sources[index].kind->consume(&merge->sources[index], merge->heads[index].size);
	load_head(merge, index);
}

void merge_begin(struct merge *merge, uint64_t limit_ns)
{
	merge_end(merge);
	merge->limit_ns = limit_ns;
	for (size_t i = 0; i < merge->count; i++) {
		merge->sources[i].kind->refresh(&merge->sources[i]);
		load_head(merge, i);
	}
}

static size_t find_oldest(const struct merge *merge)
{
	size_t oldest = merge->count;
	for (size_t i = 0; i < merge->count; i++) {
		const struct head *head = &merge->heads[i];
		if (!head->is_present || head->time_ns > merge->limit_ns)
			continue;
		if (oldest == merge->count || head->time_ns < merge->heads[oldest].time_ns)
			oldest = i;
	}
	return oldest;
}

bool merge_next(struct merge *merge, struct record *record)
{
	for (;;) {
		merge_end(merge);
		size_t index = find_oldest(merge);
		if (index == merge->count)
			return false;
		merge->pending = index;
		const struct head *head = &merge->heads[index];
		const struct source *source = &merge->sources[index];
		if (!source->kind->decode(source, head->bytes, head->size, record)) {
			merge->counts.malformed++;
			continue;
		}
		record->source = (uint32_t)index;
		merge->counts.records++;
		/* A sample in an interrupt comes before the account or the wait being sent. They
		 * stand alone: nothing else depends on their time. */
		if (head->time_ns >= merge->last_ns)
			merge->last_ns = head->time_ns;
		else if (record->kind != RECORD_ACCOUNT && record->kind != RECORD_WAIT &&
			 record->kind != RECORD_WAKE)
			merge->counts.out_of_order++;
		return true;
	}
}

void merge_counts(const struct merge *merge, struct merge_counts *counts)
{
	*counts = merge->counts;
}
