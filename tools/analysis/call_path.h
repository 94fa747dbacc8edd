/*
 * The functions of a stack as a report shows them: frames expanded into inlined functions, what is
 * not known marked, system functions left out as the call stack mode says.
 */
#ifndef TOOLS_ANALYSIS_CHAIN_H
#define TOOLS_ANALYSIS_CHAIN_H

#include "profile/read/reader.h"
#include <stddef.h>
#include <stdint.h>

struct functions;

enum chain_mode {
	/* Of each run of system functions only the outermost one, which user code called, is
	 * shown; what lies below it in the run counts as its own. */
	CHAIN_USER_PLUS_ONE,
	/* System functions count as part of the user function (or pseudo frame) that called them.
	 * A stack of system functions alone shows the outermost one. */
	CHAIN_USER_ONLY,
	CHAIN_ALL,
};

/* Deeper stacks than this no collector writes; their outer frames show as skipped. */
#define CHAIN_DEPTH_MAX 8192u

struct chain {               /* all zero: empty */
	uint32_t *functions; /* outermost first; at least one after chain_of_stack */
	size_t count;
	size_t capacity;
	uint32_t *nodes; /* scratch */
	size_t node_capacity;
};

void chain_finish(struct chain *chain);

/* The stack of leaf `node`, or TALLY_KERNEL, in this enum profile_stack_state. Memory of the chain
 * is used again. */
void chain_of_stack(struct chain *chain, const struct profile_reader *reader,
		    const struct functions *functions, uint32_t node, uint32_t state,
		    enum chain_mode mode);

/* The function whose own time a sample with this chain is. */
uint32_t chain_leaf(const struct chain *chain);

#endif
