/*
 * The times of samples. A timer at equal distances of CPU time locks to programs that repeat
 * themselves in equal times: it sees some of their work too often and some never. Therefore ticks
 * are more frequent than samples, at distances no program has, and samples are drawn from the ticks
 * independently of the program: the interval is the mean distance of samples.
 */
#ifndef COLLECTOR_PERF_SAMPLING_H
#define COLLECTOR_PERF_SAMPLING_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct sampling {
	enum profile_sampling kind;
	uint64_t interval_ns;
	uint64_t tick_ns; /* mean distance of ticks; PROFILE_SAMPLING_FIXED: the interval */
	uint64_t seed;    /* of all draws */
};

/* As many ticks as cost little: for each sample eight of a CPU or three of a thread from 2 ms on,
 * fewer down to 0.5 ms; below there is one, somewhat shorter than the interval. */
struct sampling sampling_choose(enum profile_sampling kind, uint64_t interval_ns, uint64_t seed);

/* One tick less for each sample, to save room. false: two are left; fewer would lock to programs as
 * fixed distances do. */
bool sampling_lessen(struct sampling *sampling);

/* The distance of a CPU's ticks: the mean one, within 15 %, but near no simple part of the
 * interval: programs' cycles are round numbers too. turn: number of draws before, if distances are
 * redrawn now and then. */
uint64_t sampling_tick_ns(const struct sampling *sampling, uint32_t cpu, uint32_t turn);

/* Whether the tick of a thread is a sample: with PROFILE_SAMPLING_CPUS the others are never
 * reported. period_ns: the distance of the thread's ticks. */
bool sampling_keeps(const struct sampling *sampling, uint64_t period_ns, uint32_t tid,
		    uint64_t time_ns);

/* The weight of a sample whose tick measured measured_ns: the sample also stands for the ticks that
 * were not drawn. */
uint64_t sampling_weigh(const struct sampling *sampling, uint64_t period_ns, uint64_t measured_ns);

#define SAMPLING_SHARE_ALL UINT32_MAX /* the share of all stacks, and the unit of shares */

/* Whether the share keeps the stack of a sample: drawn apart from the samples, evenly over time and
 * threads. */
bool sampling_keeps_stack(uint32_t share, uint32_t tid, uint64_t time_ns);

static inline bool sampling_is_random(const struct sampling *sampling)
{
	return sampling->kind == PROFILE_SAMPLING_THREADS ||
	       sampling->kind == PROFILE_SAMPLING_CPUS;
}

#endif
