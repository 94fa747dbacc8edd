/*
 * Places of running threads, in a recording that does not tell the processors of its records (perf
 * record without -a and --sample-cpu): each thread gets a number that no other running thread has.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_CPUS_H
#define COLLECTOR_RECORDING_RECORDING_CPUS_H

#include "collector/perf/record.h"
#include <stddef.h>
#include <stdint.h>

enum { RECORDING_CPUS_MAX = 1024 /* further threads share the last one */ };

/* All zero: nobody runs. */
struct recording_cpus {
	uint32_t tids[RECORDING_CPUS_MAX]; /* 0: free */
	size_t count;                      /* of those that were ever taken */
};

/* The number for a record: that of its thread, which runs there from a switch onto it or a sample
 * until a switch off it or its end. Of other records, one where nobody runs. */
uint32_t recording_cpus_place(struct recording_cpus *cpus, const struct record *record);

#endif
