/* The flow of control through a function: the state before each of its instructions. */
#ifndef UNWIND_ANALYSIS_FLOW_H
#define UNWIND_ANALYSIS_FLOW_H

#include "unwind/analysis/states.h"

/* A copy of a part's code. */
struct uw_flow_part {
	uint64_t start, end;
	uint8_t *bytes;  /* owned */
	uint32_t *state; /* owned; before the instruction at each byte, by number; 0: none starts
			    there */
	uint8_t *size;   /* owned; of that instruction */
	uint8_t *target; /* owned; whether a direct jump may lead there */
};

/* A way that is not followed yet. */
struct uw_flow_way {
	uint64_t address;
	uint32_t state;
};

struct uw_flow_ways {
	struct uw_flow_way *items;
	size_t count, capacity;
};

/* The table that a jump at address uses. */
struct uw_flow_table {
	uint64_t address;
	struct uw_value table;
};

/* All zero at first. */
struct uw_flow {
	const struct uw_analysis_source *source;
	struct uw_flow_part part[UW_ANALYSIS_PARTS_MAX];
	size_t part_count;
	struct uw_flow_states states;
	struct uw_flow_ways ways;
	/* From calls in front of code that others jump to: the call may not return. */
	struct uw_flow_ways doubtful;
	struct uw_flow_ways returns;  /* instructions; some more than once */
	struct uw_flow_table *tables; /* owned */
	size_t table_count, table_capacity;
	uint64_t last_searched, last_behind; /* a table, and uw_flow's answer what is behind it */
	uint64_t steps;
	uint32_t bounds_asked;
	/* Jumps out of the function in the entry's state: tail calls, the first few. */
	uint64_t exits[UW_ANALYSIS_EXITS_MAX];
	size_t exit_count;
	bool exits_anywhere; /* one of them leads to an unknown place */
	/* A way without doubtful calls leads back to the caller. */
	bool is_closed;
	bool has_misaligned_call; /* the stack pointer is no multiple of 16 */
	bool has_doubts;          /* the others are all followed */
	bool comes_back;          /* as is_closed, by any way */
	/* A jump leads to a place that could not be found out. Set it before the start if known. */
	bool has_unknown_jump;
	/* A way was taken that an unknown jump, had it been known, would have refuted. */
	bool has_aligned_way;
	/* A return finds another frame than the entry had: some call does not return, or the code
	 * follows rules of its own. */
	bool is_contradicted;
	bool is_spent; /* too many steps: the states are not final */
};

/* Follows all ways from the function's start. Returns 0, or -1 with errno as uw_analysis_run;
 * uw_flow_finish then too. */
int uw_flow_run(struct uw_flow *flow, uint64_t start);
void uw_flow_finish(struct uw_flow *flow);

/* The part with address; NULL: none. */
struct uw_flow_part *uw_flow_find(struct uw_flow *flow, uint64_t address);

#endif
