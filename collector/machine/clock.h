/* Sync points: what the counter and the clocks show at one moment. */
#ifndef COLLECTOR_MACHINE_CLOCK_H
#define COLLECTOR_MACHINE_CLOCK_H

#include "profile/profile.h"
#include <stdint.h>

/* CLOCK_MONOTONIC_RAW, ns. */
uint64_t clock_now(void);

/* The first sync point, with the counter's rate; takes a few milliseconds to measure it. Where the
 * machine has no counter that programs can read, the counter is CLOCK_MONOTONIC_RAW itself. */
struct profile_clock clock_calibrate(void);

/* A later sync point; rate as in first. */
struct profile_clock clock_sync(const struct profile_clock *first);

#endif
