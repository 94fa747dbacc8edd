/*
 * How much of a stack the kernel copies, and how often. What a ring can take in a short interval is
 * too little for whole stacks, so that now and then a second, "deep" copy of the full size is
 * taken: not a sample, but what the rests of cut stacks are guessed from.
 *
 * One size is for all threads: they inherit their events, and one whose events were replaced would
 * be counted twice meanwhile. As much as each thread needs is what BPF copies.
 */
#ifndef COLLECTOR_PERF_COPY_SIZE_H
#define COLLECTOR_PERF_COPY_SIZE_H

#include "collector/perf/sampling.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COPIES_SAMPLE_BYTES = 320, /* of a sample besides its stack */
	/* A record holds less than 64 KB, linux/perf_event.h. */
	COPIES_SIZE_MAX = 65528 - COPIES_SAMPLE_BYTES
};

struct copies {
	uint32_t size; /* bytes of each sample's copy */
	bool deep;     /* deep copies too: samples' are smaller, and the ring has room */
};

/* For rings of ring_size bytes. Chooses how many ticks there are, too, where each has a copy:
 * rather fewer ticks than copies that hold no whole stacks. */
struct copies copies_choose(size_t ring_size, struct sampling *sampling, uint64_t deep_interval_ns);

/* The ticks for copies of the size given. */
void copies_fit(size_t ring_size, uint32_t size, struct sampling *sampling);

/* CPU time between deep copies of a thread: a multiple of the samples' interval, more than one, so
 * that their timers expire together, and so that the period tells them from samples. */
uint64_t copies_deep_interval_ns(uint64_t interval_ns);

/* What the source may add to a ring each 1024 ns, in bytes, for the ring to hold what comes in the
 * time until it is read. */
uint64_t copies_refill_bytes(size_t ring_size);

#endif
