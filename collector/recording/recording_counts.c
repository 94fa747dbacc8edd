#include "collector/recording/recording_counts.h"

/* Of one id; where an inherited event counts each thread by itself, of one thread. */
struct total_key {
	uint64_t id;
	uint64_t tid;
};

struct total {
	struct hash_slot head;
	struct total_key key;
	uint64_t value;
};

static bool is_total(const void *slot, const void *key)
{
	const struct total *total = slot;
	const struct total_key *wanted = key;
	return total->key.id == wanted->id && total->key.tid == wanted->tid;
}

/* The last total of the key, 0 at first; NULL: there is no room. */
static struct total *enter_total(struct recording_counts *counts, const struct total_key *key)
{
	if (counts->totals.count == 0)
		counts->key = hash_key_draw();
	uint64_t hash = hash_bytes(&counts->key, key, sizeof(*key));
	struct total *found = hash_table_find(&counts->totals, sizeof(*found), hash, is_total, key);
	if (found || counts->totals.count == RECORDING_IDS_MAX)
		return found;
	found = hash_table_add(&counts->totals, sizeof(*found), hash);
	if (found) {
		found->key = *key;
		found->value = 0;
	}
	return found;
}

bool recording_counts_take(struct recording_counts *counts, struct recording_events *events,
			   const struct recording_sample *sample, uint64_t i,
			   struct recording_event **event, uint64_t *since)
{
	struct recording_count read = recording_sample_count(sample, i);
	const struct total_key key = {read.id, sample->event->is_inherited ? sample->tid : 0};
	*event = recording_events_find(events, read.id);
	struct total *last = *event ? enter_total(counts, &key) : NULL;
	if (!last) {
		counts->unknown++;
		return false;
	}
	*since = read.total > last->value ? read.total - last->value : 0;
	last->value = read.total;
	return *since > 0;
}

void recording_counts_finish(struct recording_counts *counts)
{
	hash_table_finish(&counts->totals);
	*counts = (struct recording_counts){0};
}
