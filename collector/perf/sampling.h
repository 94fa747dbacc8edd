/*
 * When samples are taken. A timer that expires at equal distances of CPU time locks to programs
 * that do the same things in the same times, and then sees some of these too often and others
 * never. So there are more looks than samples (ticks), at distances that no program has, and the
 * samples are drawn from the ticks, independently of what the program does: the interval is the
 * mean distance of samples.
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
	uint64_t seed;    /* what all draws come from */
};

/* Ticks are as many as cost little: for each sample eight of a CPU or three of a thread from 2 ms
 * on, fewer down to 0.5 ms; below there is one, somewhat shorter than the interval. */
struct sampling sampling_choose(enum profile_sampling kind, uint64_t interval_ns, uint64_t seed);

/* One tick less for each sample, where there is no room for as many. false: there are two,
 * and with fewer than that they lock to programs as fixed distances do. */
bool sampling_lessen(struct sampling *sampling);

/* The distance of the ticks of a CPU: the mean one, within 15 %, but near no simple part of the
 * interval: programs' cycles are round numbers too. turn: where it is drawn anew now
 * and then, how often it was. */
uint64_t sampling_tick_ns(const struct sampling *sampling, uint32_t cpu, uint32_t turn);

/* Whether the tick of a thread is a sample: with PROFILE_SAMPLING_CPUS the others are not told of.
 * period_ns: the distance of the ticks it came from. */
bool sampling_keeps(const struct sampling *sampling, uint64_t period_ns, uint32_t tid,
		    uint64_t time_ns);

/* What a sample weighs whose tick was measured to be measured_ns: it stands for the ticks that were
 * not drawn, too. */
uint64_t sampling_weigh(const struct sampling *sampling, uint64_t period_ns, uint64_t measured_ns);

static inline bool sampling_is_random(const struct sampling *sampling)
{
	return sampling->kind == PROFILE_SAMPLING_THREADS ||
	       sampling->kind == PROFILE_SAMPLING_CPUS;
}

#endif
