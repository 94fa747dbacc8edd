/*
 * Takes the records out of the rings: in order of time, with samples whole.
 *
 * The caller gets them one at a time, as long as it keeps up. A thread watches the rings: when one
 * fills up because the caller is unwinding or waiting for the disk, the thread copies the rings'
 * records into a queue and frees their space: no record is lost. The caller then gets the queue's
 * records first.
 *
 * All functions are for the thread that created the drain, but those that say otherwise.
 */
#ifndef COLLECTOR_STREAM_DRAIN_H
#define COLLECTOR_STREAM_DRAIN_H

#include "collector/perf/record.h"
#include "collector/stream/source.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long records may lie in a ring that does not fill up. The thread reports mapped files sooner:
 * they may be deleted soon. */
enum { DRAIN_POLL_MS = 200 };

struct drain;
struct sampler;

/* The sampler is borrowed and has its rings; from here on the rings, and the sampler's counts of
 * lost records, belong to drain. NULL: out of memory. */
struct drain *drain_create(struct sampler *sampler);
void drain_destroy(struct drain *drain); /* accepts NULL; ends the thread */

/* Merges the records of a further source with those of the rings; source is copied. Their
 * record->source is no ring's. Its calls come with the rings locked (drain_lock). Before the first
 * round. false: out of memory, nothing has changed. */
bool drain_add_source(struct drain *drain, const struct source *source);

/*
 * Who sees each switch and end of a thread, in the order of each ring: before a round takes their
 * records, and by drain_watch for those since. The calls come in any thread, with the rings locked:
 * they must be quick.
 */
struct drain_watcher {
	void (*show)(const struct record_switch *found, void *user);
	void (*shown)(void *user); /* all there are for now; NULL: of no interest */
	void *user;
};

/* Before the first round; at most DRAIN_WATCHERS. watcher is copied. */
enum { DRAIN_WATCHERS = 2 };
void drain_add_watcher(struct drain *drain, const struct drain_watcher *watcher);

/* In any thread, until drain_destroy: as drain_lock, and calls the watchers. */
void drain_watch(struct drain *drain);

/* In any thread: nobody takes records until drain_unlock. A source's record with a time taken in
 * between, and put before drain_unlock, comes in order. Not to be held while waiting. */
void drain_lock(struct drain *drain);
void drain_unlock(struct drain *drain);

/* Starts the thread, and waits until it runs; with intervals of up to 1 ms it reads the rings'
 * pages once before. 0, or -1 with errno: without a thread the caller must come as soon as the
 * rings fill up. */
int drain_start(struct drain *drain);

/* Writes the entries to poll: one with the thread; without it, one for each ring, and the caller
 * must come at least each DRAIN_POLL_MS. Returns their number. */
size_t drain_polls(const struct drain *drain, struct pollfd *polls);

enum drain_extent {
	DRAIN_SETTLED, /* surely complete records: a record is seen a moment after its time */
	DRAIN_ALL,     /* all records in the rings */
	DRAIN_REST     /* the same, once no more records come: parts of samples as they are */
};

/* A round: begin, any number of next. DRAIN_REST ends the thread, and waits for it. */
void drain_begin(struct drain *drain, enum drain_extent extent);

/* The next record, valid until the next call; false when there is none for now. A RECORD_LEFT_OUT
 * sample has no stack to walk: it was not chosen, or records come faster than they are taken. */
bool drain_next(struct drain *drain, const struct record **record);

/* The share of stacks to keep from now on; the others are left out. */
void drain_keep_share(struct drain *drain, uint32_t share);

struct drain_counts {
	uint64_t malformed;      /* records that did not decode */
	uint64_t out_of_order;   /* records that came after younger ones */
	uint64_t broken;         /* times a ring held invalid records */
	uint64_t dropped_bytes;  /* dropped then */
	uint64_t copied;         /* records that went through the queue */
	uint64_t left_out_bytes; /* of stacks left out */
};

/* After DRAIN_REST. */
void drain_counts(const struct drain *drain, struct drain_counts *counts);

#endif
