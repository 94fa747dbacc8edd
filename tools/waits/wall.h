/*
 * The wall-clock account: what each thread did in every ns of its life, by its slices, waits and
 * samples. Slices say how long it ran and was blocked; waits say for what; what no wait accounts
 * for are short waits.
 */
#ifndef TOOLS_WAITS_WALL_H
#define TOOLS_WAITS_WALL_H

#include "tbrw/tbrw.h"
#include "tools/samples/tally.h"
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
	/* Of the waits' records, what is more than the time blocked: counted nowhere; and what is
	 * less, though they have each block: in wait_ns. Records and slices are by clocks read at
	 * two moments. */
	uint64_t excess_ns;
	uint64_t lack_ns;
	bool has_states; /* it has slices */
};

struct wall {
	struct waits waits;
	uint64_t *wait_ns;           /* of the waits' entries: their parts of wait_ns */
	struct wall_thread *threads; /* by index; behind them one of all threads without a record */
	uint32_t thread_count;       /* without the last */
	struct wall_thread sum;      /* of the filter's threads */
	/* The name of blocked time without a record of a wait: [Short waits], unless longer ones
	 * may be among them. */
	const char *short_label;
};

/* The filter and target as for result_waits_collect; the filter's conditions on functions and tasks
 * leave the threads' accounts as they are. Returns the reader's code. */
TBRW_U32 wall_collect(struct wall *wall, struct profile_reader *reader,
		      const struct functions *functions, const struct filter *filter,
		      uint32_t target);
void wall_finish(struct wall *wall);

/* The time that a thread's samples stand for when they share what it ran: in pieces, one after the
 * other, the sum is exact. */
struct wall_running;
struct wall_running *wall_running_create(const struct wall *wall, const struct tally *tally,
					 const struct filter *filter);
void wall_running_destroy(struct wall_running *running); /* accepts NULL */
/* Of an entry of the tally, each once. */
uint64_t wall_running_take(struct wall_running *running, const struct tally_entry *entry);
/* What of the thread's time has no sample to stand for it. thread: index, or the count. */
uint64_t wall_running_rest(const struct wall_running *running, uint32_t thread);

/* For exports: gives a tally by thread its times (struct tally_times), and entries of the time off
 * the CPU. Waits have what they were for below their stacks, states stand alone: [Ready]. Sums of
 * the tally's own stay those of its samples. The labels are added to functions. Reader and filter
 * are those of the tally. Returns the reader's code; then the tally is as before. */
TBRW_U32 wall_tally(struct tally *tally, struct profile_reader *reader, struct functions *functions,
		    const struct filter *filter);

/* The names of states that have no stack. */
#define WALL_READY   "[Ready]"
#define WALL_STOPPED "[Stopped]"
#define WALL_UNKNOWN "[Unknown state]"

#endif
