/*
 * The times of a collection in which few CPUs were utilized: how much of it lies between two
 * moments.
 */
#ifndef TOOLS_WAITS_POOR_TIME_H
#define TOOLS_WAITS_POOR_TIME_H

#include "tbrw/tbrw.h"
#include <stddef.h>
#include <stdint.h>

struct profile_reader;

/* Begins of such times and their ends, in turn; from POOR_TIME_POINTS on every second one is left
 * out: between the others the time is taken to be even. */
struct poor_time { /* all zero: of no such time */
	struct poor_time_point *points;
	size_t count;
	size_t capacity;
	uint64_t sum_ns;
};

#define POOR_TIME_POINTS (1u << 21) /* 32 MB */

/* Times of CONCURRENCY_IDLE and CONCURRENCY_POOR (tools/states/concurrency.h) by a target in
 * thousandths. poor_time_finish goes with success. Returns the reader's code. */
TBRW_U32 poor_time_collect(struct poor_time *poor, struct profile_reader *reader, uint32_t target);
void poor_time_finish(struct poor_time *poor);

/* Adds a time, not before those that are there. */
void poor_time_add(struct poor_time *poor, uint64_t start_ns, uint64_t end_ns);

uint64_t poor_time_between(const struct poor_time *poor, uint64_t start_ns, uint64_t end_ns);

#endif
