/*
 * CPU time, waits and all time by line and by call: the sums of stacks from which call graphs are
 * made.
 *
 * Functions here are those of the result, then TALLY_NO_SAMPLE and TALLY_NO_THREAD, then processes
 * and threads, which call the outermost functions of their stacks.
 *
 * A function's time with its callees is the sum of the calls to it. A call from inside the same
 * function, through others or not, has no cost: its time is part of the outermost call's.
 */
#ifndef TOOLS_EXPORT_CALL_COSTS_H
#define TOOLS_EXPORT_CALL_COSTS_H

#include "tools/memory/index_map.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdbool.h>
#include <stdint.h>

#define CALL_COST_OWN UINT32_MAX

struct call_cost {
	uint32_t function;
	uint32_t callee; /* called there; CALL_COST_OWN: none, the line's own time */
	uint32_t line;   /* in the function's file; 0: not known */
	struct call_cost_sum {
		uint64_t cpu_ns;
		uint64_t samples;
		uint64_t wait_ns;
		uint64_t wall_ns;
	} sum;
};

void call_cost_add(struct call_cost_sum *sum, const struct call_cost_sum *more);

struct call_costs {
	const struct weighted_stacks *stacks;
	/* By function, own lines first, then by callee and line. */
	struct call_cost *costs;
	struct index_map map;
	struct call_owner *owners; /* processes and threads */
	struct index_map owner_map;
};

/* with_threads: the stacks are by thread, and a thread stands between each process and its
 * functions. The stacks must live longer. */
void call_costs_collect(struct call_costs *costs, struct weighted_stacks *stacks,
			bool with_threads);
void call_costs_finish(struct call_costs *costs);

/* How many functions there are, with processes and threads. */
uint32_t call_costs_function_count(const struct call_costs *costs);

/* Texts of a function; module: path, or name without a path; file: "" if not known. Those of a
 * process or thread are "[process]" or "[thread]". */
struct call_place {
	const char *module;
	const char *file;
	const char *function;
};

struct call_place call_costs_place(const struct call_costs *costs, uint32_t function);

#endif
