/*
 * The time of a result's collection, as far as a filter takes it. Times are CLOCK_MONOTONIC_RAW ns.
 */
#ifndef TOOLS_STATES_COLLECTED_H
#define TOOLS_STATES_COLLECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct profile_reader;

struct collected_pause {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct collected {
	uint64_t start_ns;
	/* Of a collection that did not end: no later than this, no earlier than the other. Else
	 * they are the same. */
	uint64_t end_ns;
	uint64_t least_end_ns;
	struct collected_pause *pauses; /* in order, without overlaps */
	size_t pause_count;
};

void collected_init(struct collected *collected, const struct profile_reader *reader,
		    const struct filter *filter);
void collected_finish(struct collected *collected);

#endif
