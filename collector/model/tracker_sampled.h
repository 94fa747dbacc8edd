/* What an analysis asks the tracker of its samples, and has it do for them. */
#ifndef COLLECTOR_MODEL_TRACKER_SAMPLED_H
#define COLLECTOR_MODEL_TRACKER_SAMPLED_H

#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* The process and thread of a sample; made from /proc where they are not known (a lost fork). NULL:
 * out of memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid);
struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid);

/* The same, but NULL where they are not known. */
struct process *tracker_find_process(const struct tracker *tracker, uint32_t pid);
struct thread *tracker_find_thread(const struct tracker *tracker, uint32_t pid, uint32_t tid);

/* The thread that an account, or a sample of its end, is of; NULL: it is not known, or its account
 * was read before. */
struct thread *tracker_waiting(const struct tracker *tracker, const struct record *record);

/* Before a sample's addresses are looked up: reads the maps where they are stale, and writes what
 * was not written yet because the process had no samples. */
void tracker_prepare(struct tracker *tracker, struct process *process, uint64_t time_ns);

/* Counts a sample that was written. */
void tracker_count_sample(struct tracker *tracker, struct thread *thread);

/* Counts a copy of a stack that was used. */
void tracker_count_copy(struct tracker *tracker, size_t size);

/* A sample that there is no memory for. */
void tracker_lose_sample(struct tracker *tracker, const struct record *record);

/* What a tick tells of its thread's CPU time. */
struct tick {
	uint64_t user_ns;   /* of what it shows; all of it where kernel mode is sampled */
	uint64_t kernel_ns; /* in the kernel, unseen: of no stack */
	uint64_t lost_ns;   /* of what was lost: of no sample */
};

/* Counts a tick in its thread's account. */
struct tick tracker_count_tick(struct tracker *tracker, struct thread *thread,
			       const struct record *record);

/* Fills in what a sample weighs, and its part of that in the kernel. is_kernel: all of it is. */
void tracker_weigh(struct tracker *tracker, struct thread *thread, const struct tick *tick,
		   uint64_t period_ns, bool is_kernel, struct profile_stack *stack);

/* What a tick that is no sample leaves for the next one. */
void tracker_keep_pending(struct tracker *tracker, struct thread *thread, const struct tick *tick,
			  bool is_kernel);

#endif
