/*
 * What events counted between samples that read their totals (PERF_SAMPLE_READ): a sample of a
 * group's leader has the total of each member so far. perf makes a sample of each difference, of
 * the leader too (util/session.c, deliver_sample_value).
 */
#ifndef COLLECTOR_RECORDING_RECORDING_COUNTS_H
#define COLLECTOR_RECORDING_RECORDING_COUNTS_H

#include "collector/recording/recording_events.h"
#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was counted yet. */
struct recording_counts {
	struct hash_table totals;
	struct hash_key key;
	uint64_t unknown; /* totals of no known event, or too many to remember */
};

/* The sample's totals one by one, i below counts_read: which event counted how much since its last
 * total. false: no event is known, or it counted nothing. */
bool recording_counts_take(struct recording_counts *counts, struct recording_events *events,
			   const struct recording_sample *sample, uint64_t i,
			   struct recording_event **event, uint64_t *since);
void recording_counts_finish(struct recording_counts *counts);

#endif
