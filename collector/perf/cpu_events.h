/*
 * The collector's own events of each CPU: outputs of BPF records, and clocks whose ticks become
 * samples (PROFILE_SAMPLING_CPUS). Both end when their CPU goes offline, and are reopened later.
 */
#ifndef COLLECTOR_PERF_CPU_EVENTS_H
#define COLLECTOR_PERF_CPU_EVENTS_H

#include "collector/bpf/sources.h"
#include "collector/host/cpus.h"
#include "collector/perf/event.h"
#include "collector/perf/ring.h"
#include <stdint.h>

struct cpu_event;

struct cpu_events {
	const struct event_config *config; /* borrowed, like all that follow */
	const struct cpus *cpus;
	const struct ring *rings;
	struct stack_source *source; /* NULL: there are no clocks, and */
	struct waits_source *waits;  /* likewise: one of both may be missing */
	struct cpu_event *each;      /* one per CPU; NULL: not open */
	uint32_t turn;               /* number of draws of the ticks' distances */
	uint64_t next_ns;            /* time of the next draw */
};

/* Opens the outputs of BPF on all CPUs. 0, or -1 with errno. */
int cpu_events_open(struct cpu_events *events);

/* Opens the clocks too. 0, or -1 with errno: none is open. */
int cpu_events_start(struct cpu_events *events);

/* Draws new distances of ticks, and reopens events that ended with their CPU: each 200 ms or 100
 * ticks, the longer of them, or seldom enough to take at most 1/500 of the time. Otherwise a
 * no-op. */
void cpu_events_renew(struct cpu_events *events);

/* No more ticks; accounts still come. */
void cpu_events_stop(struct cpu_events *events);

/* Records of ticks for which the rings had no room. */
uint64_t cpu_events_lost(const struct cpu_events *events);

/* The same of one ring: those since the last call, `most` at a time. */
uint64_t cpu_events_take_lost(struct cpu_events *events, size_t ring_index, uint64_t most);

/* Accepts events that were not opened. */
void cpu_events_close(struct cpu_events *events);

#endif
