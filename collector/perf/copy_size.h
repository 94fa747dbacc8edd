/*
 * The size and rate of the kernel's stack copies. In a short interval a ring has too little room
 * for whole stacks: now and then a second, "deep" copy of the full size is taken. It is not a
 * sample, but the source for guessing the rest of cut stacks.
 *
 * One size is for all threads: they inherit their events, and a thread with replaced events would
 * be counted twice meanwhile. Only BPF copies as much as each thread needs.
 */
#ifndef COLLECTOR_PERF_COPY_SIZE_H
#define COLLECTOR_PERF_COPY_SIZE_H

#include "collector/perf/sampling.h"
#include "profile/base/stack_size.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COPIES_SAMPLE_BYTES = PROFILE_SAMPLE_BYTES, /* of a sample besides its stack */
	COPIES_SIZE_MAX = PROFILE_STACK_SIZE_DEFAULT_MAX
};

struct copies {
	uint32_t size; /* bytes of each sample's copy */
	bool deep;     /* deep copies too: samples' are smaller, and the ring has room */
};

/* For rings of ring_size bytes. If each tick has a copy, also chooses the number of ticks: rather
 * fewer ticks than copies without whole stacks. */
struct copies copies_choose(size_t ring_size, struct sampling *sampling, uint64_t deep_interval_ns);

/* The ticks for copies of the size given. */
void copies_fit(size_t ring_size, uint32_t size, struct sampling *sampling);

/* CPU time between deep copies of a thread: a multiple of the samples' interval, more than one:
 * their timers expire together, and the period tells deep copies from samples. */
uint64_t copies_deep_interval_ns(uint64_t interval_ns);

/* The bytes a source may add to a ring each 1024 ns, for the ring to hold all records until its
 * next reading. */
uint64_t copies_refill_bytes(size_t ring_size);

#endif
