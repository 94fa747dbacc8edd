/*
 * Each thread's CPU time by stack, in the order of time. Sums are those of the report threads.
 */
#ifndef TOOLS_TIMELINES_TIMELINES_H
#define TOOLS_TIMELINES_TIMELINES_H

#include "profile/read/reader.h"
#include "tools/memory/index_map.h"
#include "tools/stacks/weighted_stacks.h"
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
	/* The last sample's time, ns since the start of the collection; of time in no sample the
	 * thread's end. Never before the piece before. Without a clock: the thread's CPU time
	 * so far. */
	uint64_t time_ns;
	uint32_t node; /* or TALLY_KERNEL */
	uint32_t state;
};

#define TIMELINE_UNKNOWN UINT64_MAX

/* A thread, or all time of no known thread. */
struct timeline {
	uint32_t process; /* indices; PROFILE_NONE: no record */
	uint32_t thread;
	uint32_t pid;
	uint32_t tid;
	bool is_threadless;
	uint64_t count;  /* of pieces, once all are collected */
	uint64_t cpu_ns; /* of all pieces */
	/* Of the thread's life, ns since the start of the collection. start_ns: 0, if it lived
	 * before; end_ns: TIMELINE_UNKNOWN, if it lived on. */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t first_ns; /* when the time of the first piece began, if it was used in one go */
	uint64_t last_ns;  /* time of the last piece */
	/* How many processes had the PID, and threads the TID, before. */
	uint32_t earlier_processes;
	uint32_t earlier_threads;
	/* Not spooled yet: more time with the same stack may follow. */
	struct timeline_piece last;
};

enum timeline_pieces {
	TIMELINE_BY_STACK,  /* samples in a row with one stack are one piece */
	TIMELINE_BY_SAMPLE, /* a piece for each sample, and for time in the kernel with it */
};

struct thread_spool;

struct timelines {
	struct weighted_stacks *stacks;
	enum timeline_pieces pieces;
	struct timeline *timelines;
	struct index_map map;
	struct thread_spool *spool;  /* struct timeline_piece, by index of the timeline */
	uint32_t *earlier_processes; /* by process: as in struct timeline */
	uint32_t *earlier_threads;   /* by thread */
	uint32_t *latest;            /* by thread: the timeline last used and 1; 0: none */
};

/* Of the samples and threads that the stacks' filter takes, the threads with time or without; the
 * stacks must live longer, with a tally as for weighted_stacks_each_sample. Returns the reader's
 * code. timelines_finish goes with each. */
TBRW_U32 timelines_collect(struct timelines *timelines, struct weighted_stacks *stacks,
			   enum timeline_pieces pieces);
void timelines_finish(struct timelines *timelines);

/* The timelines' indices, the one with the most time first. The caller frees the array. */
uint32_t *timelines_order(const struct timelines *timelines);

/* Names are those of time of no known thread, where this is such. */
struct stack_owner timelines_owner(const struct timelines *timelines,
				   const struct timeline *timeline);

/* Goes before the first piece of a timeline. */
void timelines_rewind(const struct timelines *timelines, uint32_t index);
/* Copies the next piece. */
bool timelines_next(const struct timelines *timelines, struct timeline_piece *piece);

/* Whether some of an interval is in the filter's time. */
bool timelines_take_time(const struct weighted_stacks *stacks, uint64_t start_ns, uint64_t end_ns);

/* A time of the result since the start of the collection, 0 for one before; TIMELINE_UNKNOWN for
 * all ones. */
uint64_t timelines_since_start(const struct profile_reader *reader, uint64_t tsc);

#endif
