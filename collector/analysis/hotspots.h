/*
 * Where the CPU time goes: turns each sample into what the result holds of it, a node of the
 * calling-context tree and a weight of CPU time. Asks the tracker whose a sample is.
 */
#ifndef COLLECTOR_HOTSPOTS_H
#define COLLECTOR_HOTSPOTS_H

#include "collector/model/tracker.h"
#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hotspots;

struct hotspots_config {
	uint64_t deep_interval_ns; /* the period of deep copies, which are no samples; 0: none */
	enum profile_kernel_time kernel_time;
	bool unwind;
	bool collapse;
};

/* tracker and emit are borrowed; the tracker is destroyed first. NULL: out of memory. */
struct hotspots *hotspots_create(const struct hotspots_config *config, struct tracker *tracker,
				 struct emit *emit);
void hotspots_destroy(struct hotspots *hotspots); /* accepts NULL; writes nothing */

/* Applies one record that ring_index handed out, to the tracker first. skip_stack: do not unwind a
 * sample, to save time. A RECORD_TICK only tells what its thread has used. */
void hotspots_apply(struct hotspots *hotspots, const struct record *record, size_t ring_index,
		    bool skip_stack);

/* Ends the tracker (tracker_finish), and writes what unwinding took. Comes once, after the last
 * record; waits for a table of unwind rules that is being built. */
void hotspots_finish(struct hotspots *hotspots);

#endif
