/*
 * Takes the records out of the rings: in order of time, with samples whole.
 *
 * The caller gets them one at a time, as long as it keeps up. A thread watches the rings: when one
 * fills up because the caller is busy, be it with unwinding or waiting for the disk, the thread
 * copies what the rings hold into a queue and gives their space back, so that nothing is lost. The
 * caller then gets the queue's records first.
 *
 * All functions are for the thread that created it.
 */
#ifndef COLLECTOR_STREAM_DRAIN_H
#define COLLECTOR_STREAM_DRAIN_H

#include "collector/perf/record.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long records may lie in a ring that does not fill up. Mapped files are told sooner, as the
 * thread looks: they may be deleted soon. */
enum { DRAIN_POLL_MS = 200 };

struct drain;
struct sampler;

/* The sampler is borrowed and has its rings; from here on they, and what the sampler knows of lost
 * records, belong to drain. NULL: out of memory. */
struct drain *drain_create(struct sampler *sampler);
void drain_destroy(struct drain *drain); /* accepts NULL; ends the thread */

/* Starts the thread. 0, or -1 with errno: there can be none, and the caller must come as soon as
 * the rings fill up. */
int drain_start(struct drain *drain);

/* What to poll to come in time, and at least each DRAIN_POLL_MS without the thread: writes one
 * entry with it, one for each ring without it. Returns their number. */
size_t drain_polls(const struct drain *drain, struct pollfd *polls);

enum drain_extent {
	DRAIN_SETTLED, /* what is surely complete: a record is seen a moment after its time */
	DRAIN_ALL,     /* what the rings hold */
	DRAIN_REST     /* the same, once nothing more comes: parts of samples as they are */
};

/* A round: begin, any number of next. DRAIN_REST ends the thread, and waits for it. */
void drain_begin(struct drain *drain, enum drain_extent extent);

/* The next record, valid until the next call; false when there is none for now. A sample that is
 * RECORD_LEFT_OUT has no stack to be walked: it was not chosen, or records come faster than they
 * are taken. */
bool drain_next(struct drain *drain, const struct record **record);

/* How many of the stacks are kept from now on (budget.h); the others are left out. */
void drain_keep_share(struct drain *drain, uint32_t share);

struct drain_counts {
	uint64_t malformed;      /* records that did not decode */
	uint64_t out_of_order;   /* records that came after younger ones */
	uint64_t broken;         /* times a ring held bytes that are no records */
	uint64_t dropped_bytes;  /* that were given up then */
	uint64_t copied;         /* records that went through the queue */
	uint64_t left_out_bytes; /* of stacks that the records do not have */
};

/* After DRAIN_REST. */
void drain_counts(const struct drain *drain, struct drain_counts *counts);

#endif
