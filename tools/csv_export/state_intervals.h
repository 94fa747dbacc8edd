/*
 * What threads did, by their states (tools/states/thread_states.h): exact, where running.h
 * estimates by samples.
 */
#ifndef TOOLS_CSV_EXPORT_STATE_INTERVALS_H
#define TOOLS_CSV_EXPORT_STATE_INTERVALS_H

#include "profile/profile.h"
#include "tools/csv_export/running.h"
#include <stdbool.h>

/* Whether the result has them, and the stacks' filter takes whole threads: no conditions on
 * functions or tasks. */
bool state_intervals_are_known(const struct weighted_stacks *stacks);

typedef void state_interval_callback(const struct running_interval *interval,
				     enum profile_state state, void *user);

/* The intervals of the filter's threads and times in the states whose bits (1 << enum
 * profile_state) are set, one after the other in one state as one: of a thread in order, each once
 * the next is known. pid 0: of a thread without a record. Slices are streamed; 24 bytes a thread.
 * Returns the reader's code. */
TBRW_U32 state_intervals_each(struct weighted_stacks *stacks, unsigned states,
			      state_interval_callback *take, void *user);

#endif
