/*
 * Makes a result's contents of a collection's records: each goes to the tracker first, and then to
 * those that its analysis asks for.
 */
#ifndef COLLECTOR_ANALYSIS_ANALYZER_H
#define COLLECTOR_ANALYSIS_ANALYZER_H

#include "collector/analysis/analysis.h"
#include <stdint.h>

struct analyzer;
struct emit;
struct record;
struct states;
struct tracker;

/* tracker and emit are borrowed; the tracker is destroyed first. NULL: out of memory. */
struct analyzer *analyzer_create(const struct analysis_config *config, struct tracker *tracker,
				 struct emit *emit);
void analyzer_destroy(struct analyzer *analyzer); /* accepts NULL; writes nothing */

/* The collection's start, CLOCK_MONOTONIC_RAW ns: before the first record. */
void analyzer_begin(struct analyzer *analyzer, uint64_t start_ns);

/* Has another source see the waits: before the first record. */
void analyzer_choose_waits(struct analyzer *analyzer, enum profile_wait_source source,
			   uint64_t threshold_ns);

/* Applies the next record. A RECORD_TICK only tells what its thread has used. */
void analyzer_apply(struct analyzer *analyzer, const struct record *record);

/* A thread off the CPU could run again at woken_ns (states_note_wake). */
void analyzer_note_wake(struct analyzer *analyzer, uint32_t tid, uint64_t woken_ns);

struct waits_unended;

/* After the last record: a wait that goes on (waits/waits.h). */
void analyzer_put_unended(struct analyzer *analyzer, const struct waits_unended *unended,
			  uint64_t end_ns);

/* After the last record: of states and waits, others were lost that no record told of. */
void analyzer_lose_rest(struct analyzer *analyzer);

/* Ends the tracker (tracker_finish), and writes what is known at the end, end_ns. Comes once, after
 * the last record. */
void analyzer_finish(struct analyzer *analyzer, uint64_t end_ns);

/* As waits_stale_looks; 0 without waits. */
uint64_t analyzer_stale_looks(const struct analyzer *analyzer);

/* The threads' states; NULL: without switches. Borrowed. */
struct states *analyzer_states(const struct analyzer *analyzer);

#endif
