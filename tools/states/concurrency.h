/*
 * How many threads ran at once, and how many could, over a result's time: the simultaneously
 * utilized logical CPUs, and the thread concurrency. Classes of use are VTune's, by its public
 * documentation.
 *
 * Slices are read as they are needed, and not kept (thread_states.h, level_queue.h).
 */
#ifndef TOOLS_STATES_CONCURRENCY_H
#define TOOLS_STATES_CONCURRENCY_H

#include "tbrw/tbrw.h"
#include "tools/states/thread_states.h"
#include <stddef.h>
#include <stdint.h>

/* By the share of the target, in whole percent, rounded. */
enum concurrency_class {
	CONCURRENCY_IDLE,  /* no thread */
	CONCURRENCY_POOR,  /* up to 50 % */
	CONCURRENCY_OK,    /* up to 85 % */
	CONCURRENCY_IDEAL, /* up to 115 % */
	CONCURRENCY_OVER,
	CONCURRENCY_CLASS_COUNT
};

/* "Idle", ...; for JSON "idle", ... */
const char *concurrency_class_name(enum concurrency_class use);
const char *concurrency_class_key(enum concurrency_class use);

/* The target is in thousandths of a logical CPU, not 0. */
enum concurrency_class concurrency_classify(uint64_t threads, uint32_t target);

/* The target of a result: PROFILE_NOTE_TARGET_CPUS, else the host's logical CPUs, else 1. */
uint32_t concurrency_default_target(const struct profile_reader *reader);

/* Elapsed time by number of threads, from 0 on. */
struct concurrency_times {
	uint64_t *ns;
	size_t count; /* the last one is more than 0, if there is one */
	size_t capacity;
};

/* The mean number; 0 of no time. */
double concurrency_average(const struct concurrency_times *times);
/* The sum over the numbers of a class. */
uint64_t concurrency_of_class(const struct concurrency_times *times, enum concurrency_class use,
			      uint32_t target);

struct concurrency {                 /* of the threads that a filter takes */
	struct thread_states states; /* read to the end */
	struct concurrency_times running;
	struct concurrency_times active; /* running and ready */
	uint64_t elapsed_ns;             /* of both; without pauses */
	uint64_t paused_ns;
	uint64_t over_ns; /* CPU time while more threads could run than the target has CPUs */
	uint64_t state_ns[THREAD_STATE_COUNT]; /* of all threads */
	uint64_t guessed_ns;                   /* likewise: thread_state_lane.guessed_ns */
	uint64_t waits;
};

/* Returns the reader's code; concurrency_finish goes with success. Reader and filter outlive it. */
TBRW_U32 concurrency_collect(struct concurrency *concurrency, struct profile_reader *reader,
			     const struct filter *filter, uint32_t target);
void concurrency_finish(struct concurrency *concurrency);

/* The number of running threads, of all threads, over the collection without its pauses: in the
 * order of time, each call from the end of the one before or of a pause. Times are
 * CLOCK_MONOTONIC_RAW ns. Returns the reader's code. */
typedef void concurrency_callback(uint64_t start_ns, uint64_t end_ns, uint32_t running, void *user);
TBRW_U32 concurrency_each(struct profile_reader *reader, concurrency_callback *callback,
			  void *user);

/* Numbers of running threads, of all threads, at moments that come about in the order of time. */
struct concurrency_moments;
struct concurrency_moments *concurrency_moments_create(struct profile_reader *reader);
void concurrency_moments_destroy(struct concurrency_moments *moments); /* accepts NULL */

/* raw_ns: CLOCK_MONOTONIC_RAW. UINT32_MAX: not known, since the moment lies outside of the
 * collection, or some thousand changes before an earlier one. *code: the reader's. */
uint32_t concurrency_moments_running(struct concurrency_moments *moments, uint64_t raw_ns,
				     TBRW_U32 *code);

#endif
