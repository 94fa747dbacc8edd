/*
 * Follows the processes and threads of a collection through the time-ordered stream of records, and
 * keeps the threads' accounts of CPU time. What is made of samples is an analysis's
 * (collector/analysis), which looks up whose they are.
 */
#ifndef COLLECTOR_MODEL_TRACKER_H
#define COLLECTOR_MODEL_TRACKER_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpus;
struct emit;
struct event_config;
struct tracker;

/* For the rings of the CPUs, which take the records of such events. All is borrowed for the
 * tracker's life. NULL: out of memory. */
struct tracker *tracker_create(const struct event_config *events, const struct cpus *cpus,
			       struct emit *emit);
void tracker_destroy(struct tracker *tracker); /* accepts NULL; writes nothing */

/* A thread that an event was opened for; returns its family, -1 when out of memory. The process is
 * made if it is new: at launch without mappings (they come with the exec), when attaching with
 * those that /proc shows when they are first needed. A thread that is known already only becomes
 * the head of its family. */
int tracker_add_thread(struct tracker *tracker, pid_t pid, pid_t tid, bool attach);

/* Whether a thread is followed already, as one that a followed thread created. */
bool tracker_knows(const struct tracker *tracker, pid_t tid);

/* The processes that are followed and have not ended, one after the other: *position is 0 before
 * the first. Returns the name, which lives until the next record, or NULL after the last. */
const char *tracker_next_process(const struct tracker *tracker, size_t *position, uint32_t *pid);

/* The family that a live thread is counted in; UINT32_MAX: it is not known. */
uint32_t tracker_family(const struct tracker *tracker, pid_t tid);

/* Applies one record. Of a sample only its time counts. */
void tracker_apply(struct tracker *tracker, const struct record *record);

/* With PROFILE_SAMPLING_CPUS, at the end: cpu_ns was in accounts that did not come. They, and,
 * where records were lost, those that came of no known thread, are whole lives, from before an
 * attach too: they are unattributed as far as all events' total_ns is more than the known accounts.
 */
void tracker_add_unattributed(struct tracker *tracker, uint64_t cpu_ns, uint64_t total_ns);

/* The CPU time that the events of a family counted in all, at the end: what no sample and no final
 * count told is given to the one thread it can belong to, else it stays unattributed. */
void tracker_settle(struct tracker *tracker, uint32_t family, uint64_t total_ns);

/* CPU time of the whole collection by the kernel's accounting of processes, if that is known: what
 * is more than the events counted (the very start and end of threads) is unattributed. */
void tracker_settle_all(struct tracker *tracker, uint64_t total_ns);

/* With PROFILE_SAMPLING_CPUS, once no tick comes any more: reads the accounts of the threads that
 * are there. Returns how many others there are whose accounts are still to come. */
size_t tracker_read_accounts(struct tracker *tracker);

/* Writes the processes and threads that live on, and those whose account was still open. Comes
 * once, after the last record. */
void tracker_finish(struct tracker *tracker);

struct tracker_counts {
	uint64_t samples;
	uint64_t cpu_ns;          /* of all threads, as far as it was counted */
	uint64_t unattributed_ns; /* of tracker_settle and tracker_settle_all */
	uint64_t lost;
	uint64_t stack_copy_bytes;
	uint64_t threads;
	uint64_t live_threads;
};
void tracker_counts(const struct tracker *tracker, struct tracker_counts *counts);

#endif
