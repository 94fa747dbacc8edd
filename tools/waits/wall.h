/*
 * The wall-clock account: what each thread did in every ns of its life, by its slices, waits and
 * samples. Slices say how long it ran and was blocked; waits say for what; what no wait accounts
 * for are short waits.
 */
#ifndef TOOLS_WAITS_WALL_H
#define TOOLS_WAITS_WALL_H

#include "tbrw/tbrw.h"
#include "tools/waits/waits.h"
#include <stdbool.h>
#include <stdint.h>

/* life_ns is the sum of the seven below. */
struct wall_thread {
	uint64_t life_ns; /* in the collection */
	uint64_t running_ns;
	uint64_t ready_ns;
	uint64_t wait_ns;  /* in waits with a record */
	uint64_t short_ns; /* blocked besides */
	uint64_t stopped_ns;
	uint64_t unknown_ns;
	uint64_t short_count; /* times blocked besides */
	/* Of the waits' records, what is more than the time blocked: counted nowhere. */
	uint64_t excess_ns;
	bool has_states; /* it has slices */
};

struct wall {
	struct waits waits;
	uint64_t *wait_ns;           /* of the waits' entries: their parts of wait_ns */
	struct wall_thread *threads; /* by index; behind them one of all threads without a record */
	uint32_t thread_count;       /* without the last */
	struct wall_thread sum;      /* of the filter's threads */
};

/* The filter as for waits_collect; its conditions on functions and tasks leave the threads'
 * accounts as they are. Returns the reader's code. */
TBRW_U32 wall_collect(struct wall *wall, struct profile_reader *reader,
		      const struct functions *functions, const struct filter *filter);
void wall_finish(struct wall *wall);

#endif
