/* Sync points: what the counter and the clocks show at one moment. */
#ifndef COLLECTOR_MACHINE_CLOCK_H
#define COLLECTOR_MACHINE_CLOCK_H

#include "profile/profile.h"
#include <stdint.h>
#include <time.h>

/* Any clock, ns; 0: there is none of that id. */
uint64_t clock_read(clockid_t id);

/* CLOCK_MONOTONIC_RAW, ns. */
uint64_t clock_now(void);

/* The first sync point, with the counter's rate; measuring the rate takes a few milliseconds. On a
 * machine without a counter for programs, CLOCK_MONOTONIC_RAW is the counter. */
struct profile_clock clock_calibrate(void);

/* A later sync point; rate as in first. */
struct profile_clock clock_sync(const struct profile_clock *first);

#endif
