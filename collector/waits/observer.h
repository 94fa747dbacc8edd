/*
 * The observer: reads what threads wait for while they wait, without privileges. A thread that has
 * been blocked for the threshold is read once: its system call, arguments, stack pointer and
 * program counter (/proc/PID/task/TID/syscall, proc(5)) and its stack (process_vm_readv(2)). What
 * it reads becomes a RECORD_LOOK among the drain's records; whether the thread was blocked all the
 * time is told by the records before it.
 *
 * A thread of its own watches the rings for threads that block. It never stops or signals a target,
 * and takes at most a share of a CPU (OBSERVER_SHARE): threads then wait for their turn.
 */
#ifndef COLLECTOR_WAITS_OBSERVER_H
#define COLLECTOR_WAITS_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct drain;
struct observer;

#define OBSERVER_THRESHOLD_LEAST_NS 1000000u

enum { OBSERVER_SHARE = 50 }; /* one part in so many of a CPU */

/* Adds a source and a watcher to drain (borrowed), before its first round. threshold_ns: at least
 * OBSERVER_THRESHOLD_LEAST_NS. NULL: out of memory. */
struct observer *observer_create(uint64_t threshold_ns, struct drain *drain);

/* Before drain_destroy. Accepts NULL; ends the thread. */
void observer_destroy(struct observer *observer);

/* A thread that may have been blocked since before the events were opened: it is read at the next
 * occasion. */
void observer_add_thread(struct observer *observer, uint32_t pid, uint32_t tid);

/* Starts the thread. 0, or -1 with errno: nothing is observed. */
int observer_start(struct observer *observer);

/* Ends the thread: no looks come from then on. */
void observer_stop(struct observer *observer);

struct observer_counts {
	uint64_t reads;  /* of threads */
	uint64_t looks;  /* of these, found blocked */
	uint64_t missed; /* threads not read for want of time or room */
	uint64_t cpu_ns; /* of the thread */
};

/* After observer_stop. */
struct observer_counts observer_counts(const struct observer *observer);

#endif
