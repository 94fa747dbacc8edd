/*
 * External data of a result: intervals (tasks and frames) and values of counters that others
 * measured and an import added, by series and source (profile.h). Series and sources are loaded at
 * open and checked: kinds are known, names are not empty, a source with the name of a later one is
 * gone with all that is its. Intervals and values are streamed, in the order of their source; each
 * refers to a series of its kind, and ends no earlier than it starts.
 *
 * Returned pointers live until profile_reader_close. One thread at a time per reader.
 */
#ifndef TBRW_PROFILE_EXTERNAL_H
#define TBRW_PROFILE_EXTERNAL_H

#include "profile/profile.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

struct profile_reader;

uint32_t profile_reader_source_count(const struct profile_reader *reader);
uint32_t profile_reader_series_count(const struct profile_reader *reader);

/* index below the count. */
const struct profile_source *profile_reader_source(const struct profile_reader *r, uint32_t index);
const char *profile_reader_source_name(const struct profile_reader *r, uint32_t index);
const char *profile_reader_source_host(const struct profile_reader *r, uint32_t index);
/* Its source is one of this reader. */
const struct profile_series *profile_reader_series(const struct profile_reader *r, uint32_t index);
const char *profile_reader_series_name(const struct profile_reader *r, uint32_t index);

/* Return false to stop early. */
typedef bool profile_interval_callback(const struct profile_interval *interval, void *user);
typedef bool profile_counter_callback(const struct profile_counter *counter, void *user);

/* All of them, source by source. A TBRW code; VT_SUCCESS also after a stop by the callback. */
TBRW_U32 profile_reader_each_interval(struct profile_reader *reader,
				      profile_interval_callback *callback, void *user);
TBRW_U32 profile_reader_each_counter(struct profile_reader *reader,
				     profile_counter_callback *callback, void *user);

static inline double profile_counter_value(const struct profile_counter *counter)
{
	union {
		uint64_t bits;
		double real;
	} value = {.bits = counter->value};

	return counter->flags & PROFILE_COUNTER_REAL ? value.real : (double)(int64_t)value.bits;
}

/* Times of other clocks as TSC values of this result. The true counter and dates (CLOCK_REALTIME,
 * ns since 1970) are converted between the sync points around them; without a sync point they stay
 * as they are. */
uint64_t profile_reader_tsc_of_raw(const struct profile_reader *reader, uint64_t raw_ns);
uint64_t profile_reader_tsc_of_counter(const struct profile_reader *reader, uint64_t counter);
uint64_t profile_reader_tsc_of_date(const struct profile_reader *reader, uint64_t real_ns);
/* Of CLOCK_MONOTONIC; 0: the result does not know this clock. */
uint64_t profile_reader_tsc_of_monotonic(const struct profile_reader *reader,
					 uint64_t monotonic_ns);
/* The way back; 0 without a sync point. */
uint64_t profile_reader_date_ns(const struct profile_reader *reader, uint64_t tsc);

#endif
