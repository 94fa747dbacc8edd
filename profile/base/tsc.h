/* The linear map between CLOCK_MONOTONIC_RAW and the TSC values of a result, fixed by the first
 * sync point (profile.h, struct profile_clock), and other clocks. Pure functions. */
#ifndef TBRW_PROFILE_TSC_H
#define TBRW_PROFILE_TSC_H

#include "profile/profile.h"

/* 0 stays 0 and all ones stay all ones ("before", "never"); other times end up strictly between
 * them, however far away they are from the sync point. first->tsc_per_ns_q32 is not 0. */
uint64_t profile_tsc_from_raw(const struct profile_clock *first, uint64_t raw_ns);

/* The inverse: exact where the counter runs at 1 GHz or faster, else within one tick. With a
 * tsc_per_ns_q32 of 0, which no writer stores, a TSC value counts as nanoseconds. */
uint64_t profile_raw_from_tsc(const struct profile_clock *first, uint64_t tsc);

/* ---- sync.c: times of one clock as times of another, by the sync points of a result: in
 * proportion between two points; before the first and behind the last at the rate of the first ----
 */

enum profile_sync_clock {
	PROFILE_SYNC_RAW,
	PROFILE_SYNC_DATE,
	PROFILE_SYNC_COUNTER,
	PROFILE_SYNC_MONOTONIC, /* of points that have it */
};

/* Count points in the order of time, at least one. The result is between 1 and all ones minus 1.
 * Where the clock `from` was set back, one of the two possible times. */
uint64_t profile_sync_convert(const struct profile_clock *points, uint32_t count,
			      enum profile_sync_clock from, enum profile_sync_clock to,
			      uint64_t time);

#endif
