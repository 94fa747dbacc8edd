/*
 * How many CPUs ran threads, by equal parts of time: the sum of the threads' intervals in each.
 */
#ifndef TOOLS_CSV_EXPORT_UTILIZATION_H
#define TOOLS_CSV_EXPORT_UTILIZATION_H

#include <stddef.h>
#include <stdint.h>

struct utilization {
	uint64_t start_ns; /* of the first part */
	uint64_t width_ns; /* of each part: grows with the time, so that there are few */
	uint64_t *busy_ns; /* by part */
	size_t count;
};

/* Zeroed but for start and width, which is not 0; utilization_finish goes with it. */
void utilization_finish(struct utilization *utilization);

/* A thread ran; not before the start. */
void utilization_add(struct utilization *utilization, uint64_t start_ns, uint64_t end_ns);

/* Of a part: 100 is one CPU. */
uint64_t utilization_percent(const struct utilization *utilization, size_t part);

#endif
