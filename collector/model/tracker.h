/*
 * Follows the processes and threads of a collection through the time-ordered stream of records, and
 * keeps the threads' accounts of CPU time. Samples belong to an analysis (collector/analysis),
 * which looks up their processes and threads.
 */
#ifndef COLLECTOR_MODEL_TRACKER_H
#define COLLECTOR_MODEL_TRACKER_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct emit;
struct sampler;
struct tracker;

/* For the records of the sampler's rings: its CPUs and the configuration of its events count. Both
 * are borrowed for the tracker's life. NULL: out of memory. */
struct tracker *tracker_create(const struct sampler *sampler, struct emit *emit);

/* For the records of a recording, perhaps of another machine: what is not in them is not asked of
 * the kernel, and files are found by name and build-id. owner: the user of its processes. */
struct tracker *tracker_create_recorded(const struct sampler *sampler, struct emit *emit,
					uint32_t owner);
void tracker_destroy(struct tracker *tracker); /* accepts NULL; writes nothing */

/* Adds a thread with an event of its own; returns its family, -1 when out of memory. A new process
 * is made: at launch without mappings (they come with the exec), when attaching with those of
 * /proc, read when first needed. A known thread only becomes the head of its family. */
int tracker_add_thread(struct tracker *tracker, pid_t pid, pid_t tid, bool attach);

/* Reads the mappings of a process attached to now, before they are needed: it may end by then.
 * Later ones come by records. */
void tracker_read_attached(struct tracker *tracker, pid_t pid);

/* Whether a thread is followed already, as the child of a followed thread. */
bool tracker_knows(const struct tracker *tracker, pid_t tid);

/* Iterates over followed processes that have not ended: *position is 0 before the first. Returns
 * the name, which lives until the next record, or NULL after the last. */
const char *tracker_next_process(const struct tracker *tracker, size_t *position, uint32_t *pid);

/* The family of a live thread; UINT32_MAX: it is not known. */
uint32_t tracker_family(const struct tracker *tracker, pid_t tid);

/* Applies one record. Of a sample only the time counts. */
void tracker_apply(struct tracker *tracker, const struct record *record);

/* With PROFILE_SAMPLING_CPUS, at the end: cpu_ns was in accounts that did not come. Such accounts
 * and, if records were lost, accounts of unknown threads are whole lives, even from before an
 * attach: they are unattributed as far as all events' total_ns exceeds the known accounts. */
void tracker_add_unattributed(struct tracker *tracker, uint64_t cpu_ns, uint64_t total_ns);

/* Settles a family at the end with the CPU time counted by its events: time in no sample and no
 * final count goes to the one thread it can belong to, or stays unattributed. */
void tracker_settle(struct tracker *tracker, uint32_t family, uint64_t total_ns);

/* Settles with the whole collection's CPU time by the kernel's accounting of processes, if known:
 * the excess over the events' counts (the very start and end of threads) is unattributed. What the
 * counts have beyond it is in counts.beyond_ns: the scheduler leaves out what the host took. */
void tracker_settle_all(struct tracker *tracker, uint64_t total_ns);

/* With PROFILE_SAMPLING_CPUS, after the last tick: reads the accounts of the threads still there.
 * Returns the number of other threads whose accounts are still to come. */
size_t tracker_read_accounts(struct tracker *tracker);

/* Writes the processes and threads that live on, and those with open accounts. Call once, after the
 * last record. */
void tracker_finish(struct tracker *tracker);

struct tracker_counts {
	uint64_t samples;
	uint64_t cpu_ns;          /* of all threads, as far as counted */
	uint64_t unattributed_ns; /* by tracker_settle and tracker_settle_all */
	uint64_t beyond_ns;       /* by tracker_settle_all */
	uint64_t lost;            /* records, samples or not */
	uint64_t lost_switches;   /* of them, an estimate */
	uint64_t lost_samples;    /* at most, but for what was drawn from lost ticks: an estimate */
	uint64_t stack_copy_bytes;
	uint64_t threads;
	uint64_t live_threads;
};
void tracker_counts(const struct tracker *tracker, struct tracker_counts *counts);

#endif
