/*
 * What blocked threads wait for: waits with objects and stacks, made of the records of all sources.
 *
 * The observer's looks (RECORD_LOOK) are taken by threads' states: a look counts if its thread was
 * blocked from before the look's begin to its end, and the block's end ends the wait.
 *
 * A wait is a system call. A call that blocks several times shows as several waits, unless the
 * kernel says that it is the same one: it was restarted (restart_syscall(2)), or the thread was
 * stopped in its midst. A loop of equal calls looks the same otherwise.
 *
 * One thread at a time, with the tracker.
 */
#ifndef COLLECTOR_WAITS_WAITS_H
#define COLLECTOR_WAITS_WAITS_H

#include "collector/perf/record.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct emit;
struct stacks;
struct tracker;
struct waits;

struct waits_config {
	enum profile_wait_source source; /* of waits in system calls */
	uint64_t threshold_ns;           /* shorter waits have no record */
	bool without_children;           /* waits of processes that nobody knows are not wanted */
	bool without_io_waits;           /* nor those for files, sockets, terminals and pages */
	bool without_stacks;             /* a wait has its leaf only */
	bool has_library;                /* processes may say themselves what they wait for */
};

/* All are borrowed. NULL: out of memory. */
struct waits *waits_create(const struct waits_config *config, struct tracker *tracker,
			   struct stacks *stacks, struct emit *emit);
void waits_destroy(struct waits *waits); /* accepts NULL; writes nothing */

/* The collection's start, CLOCK_MONOTONIC_RAW ns: threads that wait by then are attached to. */
void waits_begin(struct waits *waits, uint64_t start_ns);

/* Chooses another source of waits in system calls: before the first record. */
void waits_choose(struct waits *waits, enum profile_wait_source source, uint64_t threshold_ns);

/* What the record's thread did before the record, and since when. */
struct waits_state {
	enum profile_state state;
	uint64_t since_ns;
};

/* Applies a record: of switches, exits and losses those of the rings, and those of the sources of
 * waits. Before the thread's state and the tracker get it: then the thread is still there. */
void waits_apply(struct waits *waits, const struct record *record, const struct waits_state *state);

/* A wait that goes on, as far as its source saw it. */
struct waits_unended {
	uint32_t pid;
	uint32_t tid;
	uint64_t first_ns;   /* the collection's start: what was before is no part of it */
	uint64_t begin_ns;   /* blocked from here on, for the first time; 0: never seen blocking,
				and the rest says nothing */
	uint64_t block_ns;   /* its present block; 0: it is in none */
	uint64_t blocked_ns; /* before this block; so the rest */
	uint64_t ready_ns;
	uint64_t stopped_ns;
	uint32_t blocks;
	bool is_interrupted;
	bool is_32bit;           /* the call is one of 32-bit code */
	struct record_call call; /* without begin_ns */
};

/* Writes the wait of a thread, state by the last record, that waits at end_ns. The thread is looked
 * at for its stack; if that fails, or it has gone on since, the wait has none. Before waits_end. */
void waits_put_unended(struct waits *waits, const struct waits_unended *unended,
		       const struct waits_state *state, uint64_t end_ns);

/* After the last record, where others were lost that no record told of: what ended since, nobody
 * knows. Before waits_leave and waits_end. */
void waits_lose_rest(struct waits *waits);

/* For each thread that lives at end_ns, with its state then: writes a wait that goes on, and that
 * the observer did not see. Before waits_end. */
void waits_leave(struct waits *waits, uint32_t pid, uint32_t tid, const struct waits_state *state,
		 uint64_t end_ns);

/* Looks that say nothing, since their threads ran meanwhile. */
uint64_t waits_stale_looks(const struct waits *waits);

/* Writes the waits that did not end by end_ns, and the notes of what was not seen. Before the
 * tracker's end. */
void waits_end(struct waits *waits, uint64_t end_ns);

#endif
