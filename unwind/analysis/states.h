/* The distinct states of a function, by number: most instructions change nothing that counts. */
#ifndef UNWIND_ANALYSIS_STATES_H
#define UNWIND_ANALYSIS_STATES_H

#include "containers/hash_table.h"
#include "unwind/analysis/state.h"

/* All zero: empty. */
struct uw_flow_states {
	struct uw_flow_state *items; /* owned; state number n is items[n - 1] */
	size_t count, capacity;
	struct hash_table table;
};

void uw_flow_states_finish(struct uw_flow_states *states);

/* The number of a state, from 1; 0: out of memory. */
uint32_t uw_flow_states_number(struct uw_flow_states *states, const struct uw_flow_state *state);

#endif
