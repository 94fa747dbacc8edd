/*
 * Each thread's CPU time by stack, in the order of time. Sums are those of the report threads.
 */
#ifndef TOOLS_TIMELINES_TIMELINES_H
#define TOOLS_TIMELINES_TIMELINES_H

#include "profile/read/reader.h"
#include "tools/memory/index_map.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/timelines/thread_spool.h"
#include <stdbool.h>
#include <stdint.h>

/* States of pieces without a stack, besides enum profile_stack_state: TALLY_NO_SAMPLE and
 * TALLY_NO_THREAD. */
enum {
	TIMELINE_NO_SAMPLE = PROFILE_STACK_NONE + 1,
	TIMELINE_NO_THREAD,
};

/* Time with one stack: of one sample, or of several in a row. */
struct timeline_piece {
	uint64_t cpu_ns; /* 0: no piece */
	uint32_t node;   /* or TALLY_KERNEL */
	uint32_t state;
};

/* A thread, or all time of no known thread. */
struct timeline {
	uint32_t process; /* indices; PROFILE_NONE: no record */
	uint32_t thread;
	uint32_t pid;
	uint32_t tid;
	bool is_threadless;
	uint64_t cpu_ns; /* of all pieces */
	/* Not spooled yet: more time with the same stack may follow. */
	struct timeline_piece last;
};

struct timelines {
	struct weighted_stacks *stacks;
	struct timeline *timelines;
	struct index_map map;
	struct thread_spool *spool; /* struct timeline_piece, by index of the timeline */
};

/* Of the samples that the stacks' filter takes; the stacks must live longer, with a tally as for
 * weighted_stacks_each_sample. Returns the reader's code. timelines_finish goes with each. */
TBRW_U32 timelines_collect(struct timelines *timelines, struct weighted_stacks *stacks);
void timelines_finish(struct timelines *timelines);

#endif
