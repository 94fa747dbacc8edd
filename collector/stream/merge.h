/* One time-ordered stream out of the records of all rings. */
#ifndef COLLECTOR_STREAM_MERGE_H
#define COLLECTOR_STREAM_MERGE_H

#include "collector/perf/record.h"
#include "collector/perf/ring.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;

/* For count rings, all borrowed, with records of the given format. NULL: out of memory. */
struct merge *merge_create(struct ring *rings, size_t count, const struct record_format *format);
void merge_destroy(struct merge *merge); /* accepts NULL */

/*
 * Starts a round: refreshes all rings and limits the round to records not younger than limit_ns.
 * A record can be handed out in order once every older one is visible in its ring; the kernel takes
 * a record's time a moment before it publishes it, so the limit must lie that moment before the
 * refresh. UINT64_MAX hands out everything.
 */
void merge_begin(struct merge *merge, uint64_t limit_ns);

/* The next record in order of time; false when the round is over. Valid until the next call. */
bool merge_next(struct merge *merge, struct record *record, size_t *ring_index);

/* Ends the round; the last record handed out is consumed. */
void merge_end(struct merge *merge);

struct merge_counts {
	uint64_t records;
	uint64_t malformed;     /* records that did not decode */
	uint64_t out_of_order;  /* records older than one handed out before */
	uint64_t broken;        /* times a ring held bytes that are no records */
	uint64_t dropped_bytes; /* that were given up then: nobody knows how many records */
};
void merge_counts(const struct merge *merge, struct merge_counts *counts);

#endif
