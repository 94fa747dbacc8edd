/* One time-ordered stream out of the records of all sources. */
#ifndef COLLECTOR_STREAM_MERGE_H
#define COLLECTOR_STREAM_MERGE_H

#include "collector/stream/source.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;

/* For count sources, all borrowed. NULL: out of memory. */
struct merge *merge_create(const struct source *sources, size_t count);
void merge_destroy(struct merge *merge); /* accepts NULL */

/*
 * Starts a round, and ends the one before: refreshes all sources and limits the round to records
 * not younger than limit_ns. A record can be handed out in order once every older one is visible in
 * its ring; the kernel takes a record's time a moment before it publishes it, so the limit must lie
 * that moment before the refresh. UINT64_MAX hands out everything.
 */
void merge_begin(struct merge *merge, uint64_t limit_ns);

/* The next record in order of time; false when the round is over. Valid until the next call. */
bool merge_next(struct merge *merge, struct record *record);

/* Ends the round; the last record handed out is consumed. */
void merge_end(struct merge *merge);

struct merge_counts {
	uint64_t records;
	uint64_t malformed;    /* records that did not decode */
	uint64_t out_of_order; /* records older than one handed out before */
};
void merge_counts(const struct merge *merge, struct merge_counts *counts);

#endif
