/*
 * When each thread ran, as far as its samples tell: a sample stands for CPU time that ended with
 * it. The intervals of a thread are in the order of time, do not overlap, and are as long as the
 * CPU time of its samples; where samples follow each other faster than their time allows, the
 * neighbours' gaps take it. No interval starts before the thread's life.
 */
#ifndef TOOLS_CSV_EXPORT_RUNNING_H
#define TOOLS_CSV_EXPORT_RUNNING_H

#include "tbrw/tbrw.h"
#include <stdint.h>

struct weighted_stacks;

/* Times are CLOCK_MONOTONIC_RAW ns. */
struct running_interval {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t pid;
	uint32_t tid;
};

/* The part of time that is exported: of the collection, and by the filter. */
struct running_bounds {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct running_bounds running_bounds(const struct weighted_stacks *stacks);

/* The life of a thread of the reader within the bounds; empty (its end is not behind its start) if
 * it is not. */
struct running_interval running_life(const struct weighted_stacks *stacks,
				     const struct running_bounds *bounds, uint32_t thread);

/* Of the samples that the stacks' filter takes, thread by thread. Returns the reader's code. */
TBRW_U32 running_each(struct weighted_stacks *stacks,
		      void (*take)(const struct running_interval *, void *), void *user);

#endif
