/*
 * What each thread of a result did over its life: pieces of time in a state, from its slices
 * (profile/read/states.h). Pieces of a thread are in order, do not overlap, and leave no gap: their
 * times add up to its life, which begins at its start or the collection's, and ends at its end or
 * the collection's. What the slices do not tell is PROFILE_STATE_UNKNOWN.
 *
 * Slices are read some thousand at a time, and not kept. Memory: about 120 bytes a thread.
 */
#ifndef TOOLS_STATES_THREAD_STATES_H
#define TOOLS_STATES_THREAD_STATES_H

#include "profile/read/states.h"
#include "tools/states/collected.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct profile_reader;

#define THREAD_STATE_COUNT (PROFILE_STATE_STOPPED + 1)

struct thread_state_lane {
	uint32_t thread; /* index; PROFILE_NONE: it has no record */
	uint32_t tid;
	bool is_taken;  /* by the filter; else nothing below counts */
	bool has_begun; /* its start is known: from its record, or by its first slice */
	/* Times are CLOCK_MONOTONIC_RAW ns. */
	uint64_t start_ns; /* of its life in the collection */
	uint64_t end_ns;
	uint64_t at_ns; /* pieces end here so far; at the end of all, the life's end */
	uint64_t ns[THREAD_STATE_COUNT]; /* by enum profile_state */
	uint64_t guessed_ns;             /* of these, what PROFILE_SLICE_AFTER_LOSS is about */
	uint64_t waits;                  /* times it blocked */
	uint64_t slices;
};

struct thread_state_piece {
	uint64_t start_ns;
	uint64_t end_ns; /* behind the start */
	uint32_t lane;
	enum profile_state state;
	uint32_t cpu; /* of RUNNING */
};
typedef void thread_state_callback(const struct thread_state_piece *piece, void *user);

struct thread_states {
	struct thread_state_lane *lanes; /* first those of the reader's threads, by index */
	size_t lane_count;
	struct collected collected; /* its end is known at the end of all */
	uint64_t slices;            /* all that were read */
	uint64_t cut; /* of these, changed or left out, as others contradict them; or in disorder */
	uint64_t last_end_ns; /* of a slice so far */
	struct thread_states_source *source;
};

/* The filter's conditions on process and thread count, and its times. Both outlive the states. */
void thread_states_init(struct thread_states *states, struct profile_reader *reader,
			const struct filter *filter);
void thread_states_finish(struct thread_states *states);

/* Reads on, and calls back for each piece: by the end of slices, and at the end of all for the rest
 * of each life. False: that was all, or *code, the reader's, is a failure. callback may be NULL. */
bool thread_states_read(struct thread_states *states, thread_state_callback *callback, void *user,
			TBRW_U32 *code);

/* The same to the end. Returns the reader's code. */
TBRW_U32 thread_states_read_all(struct thread_states *states, thread_state_callback *callback,
				void *user);

static inline uint64_t thread_states_life_ns(const struct thread_state_lane *lane)
{
	return lane->end_ns - lane->start_ns;
}

#endif
