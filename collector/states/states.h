/*
 * The threads' states over time: the records of switches become slices (profile.h), in the order of
 * their ends, and what lies between two slices of a thread is of one state. Threads and their lives
 * are the tracker's; the state of a thread lies in struct thread.
 *
 * A record between two of a CPU can be lost, and the kernel says so later. Then the thread on that
 * CPU is cut there, and the next slice of each thread off the CPUs has PROFILE_SLICE_AFTER_LOSS:
 * any of them may have run on that CPU meanwhile.
 *
 * One record costs a look-up of its thread, and no memory is taken but for a CPU's first record.
 * Not thread-safe.
 */
#ifndef COLLECTOR_STATES_STATES_H
#define COLLECTOR_STATES_STATES_H

#include "collector/perf/record.h"
#include "collector/states/switch_lead.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;
struct states;
struct tracker;

/* Listens to the tracker (tracker_listen). Both are borrowed; the tracker gets no more records once
 * the states are destroyed. NULL: out of memory. */
struct states *states_create(struct tracker *tracker, struct emit *emit);
void states_destroy(struct states *states); /* accepts NULL; writes nothing */

/* The collection's start, CLOCK_MONOTONIC_RAW ns, before the first record: no slice begins earlier.
 */
void states_begin(struct states *states, uint64_t start_ns);

/* The threads live on this machine, and their events record the switches: from here on, runs begin
 * where the scheduler's accounts do. lead is borrowed, and learns meanwhile. */
void states_follow_lead(struct states *states, const struct switch_lead *lead);

/* Applies the next record of a ring, after the tracker. */
void states_apply(struct states *states, const struct record *record);

/* Records were lost at the end, on whatever CPU, and no record says so. Before states_finish. */
void states_lose_rest(struct states *states);

/* Writes the last slice of each thread, before the tracker finishes. */
void states_finish(struct states *states, uint64_t end_ns);

/* A thread's state by the records applied so far. */
struct states_now {
	enum profile_state state; /* STOPPED as far as known; UNKNOWN after losses */
	uint64_t since_ns;        /* of a run: since the switch, however many slices it has */
	bool after_loss;          /* switches were lost meanwhile: it may have run unseen */
};

/* false: there is no such thread. */
bool states_find(const struct states *states, uint32_t tid, struct states_now *now);

/* What others know of a thread off the CPU, told before its slice behind that is written, at its
 * next switch off the CPU: at woken_ns it could run again; at time_ns it was stopped, by a signal
 * or a debugger. Times outside of its last time off the CPU, and unknown threads, are ignored. */
void states_note_wake(struct states *states, uint32_t tid, uint64_t woken_ns);
void states_note_stop(struct states *states, uint32_t tid, uint64_t time_ns);

struct states_counts {
	uint64_t switches;  /* onto a CPU */
	uint64_t run_ns;    /* of all slices */
	uint64_t cut;       /* slices whose end was lost */
	uint64_t unordered; /* records older than others of their thread: moved up to them */
};
void states_counts(const struct states *states, struct states_counts *counts);

#endif
