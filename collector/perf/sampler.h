/*
 * The sampling events of all followed threads, and the rings that their records go to: one ring per
 * online CPU, mapped on an idle event of the collector itself, so that it lives as long as the
 * collection whatever threads end.
 */
#ifndef COLLECTOR_PERF_SAMPLER_H
#define COLLECTOR_PERF_SAMPLER_H

#include "collector/machine/cpus.h"
#include "collector/machine/failure.h"
#include "collector/perf/cpu_events.h"
#include "collector/perf/event.h"
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
};

/* Where the copies of the stacks come from. */
enum sampler_source {
	SAMPLER_COPY, /* the kernel's, of one size */
	SAMPLER_AUTO, /* BPF if it can be had, else the kernel's */
	SAMPLER_BPF   /* of what is used of the stack; the kernel's where that fails */
};

/* The records of one ring that were no samples, and that it had no room for. */
struct sampler_refused {
	uint64_t count;    /* until read_ns */
	uint64_t read_ns;  /* CLOCK_MONOTONIC_RAW */
	uint64_t pause_ns; /* until it may be read again */
	uint64_t taken;    /* what sampler_take_refused gave out */
};

/* One thread adds and drops threads; sampler_take_refused may be another's beside it. */
struct sampler {
	struct cpus cpus;
	struct event_config config;
	struct ring *rings;   /* one per CPU, on idle events of ours; from the first thread on */
	size_t ring_size;     /* bytes of data */
	pthread_mutex_t lock; /* held to change what follows, and to read it beside that */
	struct sampler_thread *threads;
	size_t thread_count;
	size_t thread_capacity;
	bool deep; /* threads have deep events too */

	enum sampler_source wanted;
	bool limited;                    /* the size of the stack copies was given */
	struct stack_source *source;     /* NULL: BPF has no part in it */
	bool copies;                     /* BPF copies the stacks; else the kernel */
	struct cpu_events cpu_events;    /* what the source needs of each CPU */
	int source_error;                /* why there is none after all; else 0 */
	pid_t followed;                  /* process that the source was last told of */
	struct sampler_refused *refused; /* one per CPU */
};

/* Finds out what the kernel can do. stack_size UINT32_MAX: as large as interval and rings allow.
 * Without stacks (stack_size 0) wanted does not matter. Of sampling, the interval and the seed are
 * given, and whether it is PROFILE_SAMPLING_FIXED: the best random kind is found else, and the
 * ticks as many as the rings allow, once they are mapped. */
int sampler_init(struct sampler *sampler, const struct event_config *config,
		 enum sampler_source wanted, struct failure *failure);
void sampler_finish(struct sampler *sampler);

/* Opens the events of a thread; the first call maps the rings. Returns 0, 1 if the thread is gone,
 * or -1. On success the thread is the last of sampler->threads. */
int sampler_add(struct sampler *sampler, pid_t pid, pid_t tid, struct failure *failure);

/* All threads of the attached process are open. Before, the CPUs' clocks make no samples of it:
 * they could not tell the threads that are not. */
void sampler_release(const struct sampler *sampler);

/* Closes the events of threads[index] (which is followed through another one's); the entry stays,
 * without fds. */
void sampler_drop(struct sampler *sampler, size_t index);

/* Comes now and then: draws the distances of the ticks anew that are the CPUs'. */
void sampler_renew(struct sampler *sampler);

/* How many of the stacks are copied from now on, as far as the source of the copies can choose
 * (budget.h); its other samples are RECORD_LEFT_OUT. */
void sampler_keep_share(const struct sampler *sampler, uint32_t share);

/* Stops all events: nothing is counted from here on. Accounts (RECORD_ACCOUNT) still come. */
void sampler_stop(struct sampler *sampler);

/* CPU time that the events of threads[index] counted, and the records they lost, over all CPUs. */
void sampler_read(const struct sampler *sampler, size_t index, struct event_reading *total);

/* What the events of the CPUs' clocks lost: samples, and accounts of threads (bpf/source.h). */
uint64_t sampler_lost_ticks(const struct sampler *sampler);
void sampler_missing(const struct sampler *sampler, struct stack_source_missing *missing);

/* How many of lost records that a ring reports at time_ns were no samples: parts of stacks, whose
 * samples came in another way, and deep copies. Each is given out once. Asks the kernel of each
 * thread, unless it did so at a time that is later, or so shortly before that asking would take too
 * much of the time: what it does not know of then is left for the next report. */
uint64_t sampler_take_refused(struct sampler *sampler, size_t ring_index, uint64_t time_ns,
			      uint64_t lost);

#endif
