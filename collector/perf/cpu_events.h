/*
 * The collector's own events of each CPU: what BPF sends its records through; and the clocks whose
 * ticks become samples (PROFILE_SAMPLING_CPUS). Both end when their CPU goes offline, and are
 * opened again when it is back.
 */
#ifndef COLLECTOR_PERF_CPU_EVENTS_H
#define COLLECTOR_PERF_CPU_EVENTS_H

#include "collector/bpf/source.h"
#include "collector/machine/cpus.h"
#include "collector/perf/event.h"
#include "collector/perf/ring.h"
#include <stdint.h>

struct cpu_event;

struct cpu_events {
	const struct event_config *config; /* borrowed, like all that follow */
	const struct cpus *cpus;
	const struct ring *rings;
	struct stack_source *source;
	struct cpu_event *each; /* one per CPU; NULL: not open */
	uint32_t turn;          /* how often the ticks' distances were drawn anew */
	uint64_t next_ns;       /* when they are again */
};

/* Opens what BPF sends through, on all CPUs. 0, or -1 with errno. */
int cpu_events_open(struct cpu_events *events);

/* Opens the clocks too. 0, or -1 with errno: none is open. */
int cpu_events_start(struct cpu_events *events);

/* Draws the distances of ticks anew, and opens what ended with its CPU: each 200 ms, or 100 ticks
 * if these are more, or as seldom as it must be to take at most 1/500 of the time. Else nothing. */
void cpu_events_renew(struct cpu_events *events);

/* No more ticks; accounts still come. */
void cpu_events_stop(struct cpu_events *events);

/* Records of ticks that the rings had no room for. */
uint64_t cpu_events_lost(const struct cpu_events *events);

/* Accepts what was not opened. */
void cpu_events_close(struct cpu_events *events);

#endif
