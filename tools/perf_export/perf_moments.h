/*
 * What threads of a result did besides their samples, in the order of time: the switches of their
 * CPUs, by their states (tools/states/thread_states.h), and the waits.
 *
 * Both are read as they are needed, and kept until nothing older can come. Memory: 2 bits for each
 * stretch on a CPU, 24 bytes a thread, and the moments of a second, at most 64 MB of them; those
 * beyond, and what the file has more than a second late, come out of order.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_MOMENTS_H
#define TOOLS_PERF_EXPORT_PERF_MOMENTS_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

struct weighted_stacks;

/* In the order of those of one time. */
enum perf_moment_kind {
	PERF_MOMENT_LEAVES,    /* a CPU, to wait */
	PERF_MOMENT_PREEMPTED, /* leaves it, and could go on */
	PERF_MOMENT_WAITED,    /* a wait ends */
	PERF_MOMENT_RUNS,      /* gets a CPU */
};

struct perf_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t wait_ns; /* of a wait: its length up to then */
	uint32_t pid;     /* of a thread without a record its tid: nobody knows */
	uint32_t tid;
	uint32_t node; /* of a wait's stack */
	uint16_t cpu;  /* of a switch */
	uint8_t kind;  /* enum perf_moment_kind */
	uint8_t state; /* of the stack, enum profile_stack_state */
};

struct perf_moments;

/* Of the stacks' reader and filter. Switches are those of the filter's threads in its time, none if
 * it has conditions on functions or tasks. Waits are those that tbreport waits shows with the
 * filter. Reads all slices once. Returns the reader's code; destroy it in any case. */
TBRW_U32 perf_moments_create(struct weighted_stacks *stacks, struct perf_moments **moments);
void perf_moments_destroy(struct perf_moments *moments); /* accepts NULL */

/* Takes the next one that is not behind until_ns. False: there is none, or the reader failed. */
bool perf_moments_next(struct perf_moments *moments, uint64_t until_ns, struct perf_moment *moment);

/* The reader's code so far. */
TBRW_U32 perf_moments_code(const struct perf_moments *moments);

#endif
