/*
 * The sampling events of all followed threads, and the rings for their records: one ring per online
 * CPU, mapped on an idle event of the collector, to live as long as the collection whatever threads
 * end.
 */
#ifndef COLLECTOR_PERF_SAMPLER_H
#define COLLECTOR_PERF_SAMPLER_H

#include "collector/host/cpus.h"
#include "collector/message/failure.h"
#include "collector/perf/cpu_events.h"
#include "collector/perf/event.h"
#include "collector/perf/event_ids.h"
#include "collector/perf/ring.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The events of one opened thread. */
struct sampler_thread {
	pid_t pid;
	pid_t tid;
	uint32_t family; /* the tracker's */
	int *fds;        /* one per CPU; -1: none (the CPU went offline) */
	int *deep_fds;   /* of the deep events, likewise; NULL: none */
	int *added_fds;  /* of the added events, by event and CPU; NULL: none */
};

/* The source of stack copies. */
enum sampler_source {
	SAMPLER_COPY, /* the kernel's, of one size */
	SAMPLER_AUTO, /* BPF if available, else the kernel's */
	SAMPLER_BPF   /* of the used part of the stack; the kernel's where BPF fails */
};

/* Records of one ring, other than samples, for which the ring had no room. */
struct sampler_refused {
	uint64_t count;    /* until read_ns */
	uint64_t read_ns;  /* CLOCK_MONOTONIC_RAW */
	uint64_t pause_ns; /* until it may be read again */
	uint64_t taken;    /* reported by sampler_take_refused */
};

/* One thread adds and drops threads; another may call sampler_take_refused meanwhile. */
struct sampler {
	struct cpus cpus;
	struct event_config config;
	struct ring *rings;   /* one per CPU, on idle events of ours; from the first thread on */
	size_t ring_size;     /* bytes of data */
	pthread_mutex_t lock; /* held to change members below, or read them elsewhere */
	struct sampler_thread *threads;
	size_t thread_count;
	size_t thread_capacity;
	bool deep;            /* threads have deep events too */
	struct event_ids ids; /* of the threads' added events */

	enum sampler_source wanted;
	bool limited;                     /* the size of the stack copies was given */
	struct stack_source *source;      /* NULL: BPF has no part in it */
	bool copies;                      /* BPF copies the stacks; else the kernel */
	struct cpu_events cpu_events;     /* the source's events on each CPU */
	int source_error;                 /* why the source was given up; else 0 */
	struct waits_source *waits;       /* NULL: no waits by BPF */
	int waits_error;                  /* why they were given up; else 0 */
	struct switches_source *switches; /* NULL: the events record switches, if wanted */
	pid_t followed;                   /* process last added to the source */
	struct sampler_refused *refused;  /* one per CPU */
};

/* Finds out the kernel's features. Fails, too, if /proc numbers processes in another way than the
 * events. stack_size UINT32_MAX: as large as interval and rings allow; 0:
 * no stacks, wanted does not matter. The caller gives sampling's interval and seed, and its kind if
 * that is PROFILE_SAMPLING_FIXED; otherwise the best random kind is chosen. The number of ticks
 * follows from the rings, once they are mapped. */
int sampler_init(struct sampler *sampler, const struct event_config *config,
		 enum sampler_source wanted, struct failure *failure);
void sampler_finish(struct sampler *sampler);

/* Has BPF record the waits of all threads added from now on. To be called before the first thread
 * is: from then on sampler->waits says whether it does, and sampler->waits_error why not. */
void sampler_open_waits(struct sampler *sampler, uint64_t threshold_ns, bool all_wakers);

/* Has BPF record the switches of all threads, if config.switches, instead of their events: at a
 * part of the cost. Without BPF the events go on to. Before the first thread is added. */
void sampler_open_switches(struct sampler *sampler);

/* Why there are no waits by BPF, in words. */
const char *sampler_waits_words(const struct sampler *sampler);

/* Opens the events of a thread; the first call maps the rings. Returns 0, 1 if the thread is gone,
 * or -1. On success the thread is the last of sampler->threads. */
int sampler_add(struct sampler *sampler, pid_t pid, pid_t tid, struct failure *failure);

/* Call once all threads of the attached process are open. Before, the CPUs' clocks take no samples
 * of the process: a tick may hit a thread that is not open yet. */
void sampler_release(const struct sampler *sampler);

/* Closes the events of threads[index], a thread followed through another one's events; the entry
 * stays, without fds. */
void sampler_drop(struct sampler *sampler, size_t index);

/* Call now and then: draws new distances for the CPUs' ticks. */
void sampler_renew(struct sampler *sampler);

/* The share of stacks to copy from now on, if the source of the copies can choose; its other
 * samples are RECORD_LEFT_OUT. */
void sampler_keep_share(const struct sampler *sampler, uint32_t share);

/* Stops all events: nothing is counted, and no wait recorded, from here on. Accounts
 * (RECORD_ACCOUNT) still come. */
void sampler_stop(struct sampler *sampler);

/* CPU time counted by the events of threads[index], and records lost, over all CPUs. */
void sampler_read(const struct sampler *sampler, size_t index, struct event_reading *total);

/* Number of an added event, from 1 on, and its records lost, over all threads and CPUs. */
void sampler_read_event(const struct sampler *sampler, uint32_t event, struct event_reading *total);

/* Losses of the CPUs' clocks: samples, and accounts of threads (bpf/stack_source.h). */
uint64_t sampler_lost_ticks(const struct sampler *sampler);
uint64_t sampler_lost_switches(const struct sampler *sampler); /* by BPF */
void sampler_missing(const struct sampler *sampler, struct stack_source_missing *missing);
void sampler_missing_waits(const struct sampler *sampler, struct waits_source_missing *missing);

/* Of `lost` records reported by a ring at time_ns, the number that were no samples: parts of stacks
 * whose samples came in another way, and deep copies. Each is returned once. Asks the kernel about
 * each thread, unless the last reading was after time_ns, or so recent that another would take too
 * much time: later losses are left for the next report. */
uint64_t sampler_take_refused(struct sampler *sampler, size_t ring_index, uint64_t time_ns,
			      uint64_t lost);

/* Of `lost` other records, reported by a ring elapsed_ns after its last one, the number of switches
 * if the events record them. Exact with PROFILE_SAMPLING_CPUS (but for the few records of mappings
 * and new tasks); else an estimate: a CPU has not more ticks than fit. */
uint64_t sampler_take_switches(struct sampler *sampler, size_t ring_index, uint64_t elapsed_ns,
			       uint64_t lost);

/* Whether sampler_take_switches is exact. */
bool sampler_knows_lost_ticks(const struct sampler *sampler);

#endif
