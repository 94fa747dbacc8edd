/* The tracker's services to an analysis. */
#ifndef COLLECTOR_MODEL_TRACKER_SAMPLED_H
#define COLLECTOR_MODEL_TRACKER_SAMPLED_H

#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* The process and thread of a sample; made from /proc if unknown (a lost fork). NULL: out of
 * memory. */
struct process *tracker_process(struct tracker *tracker, uint32_t pid);
struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid);

/* The same, but NULL if unknown. */
struct process *tracker_find_process(const struct tracker *tracker, uint32_t pid);
struct thread *tracker_find_thread(const struct tracker *tracker, uint32_t pid, uint32_t tid);

/* The thread of an account, or of a sample of its end; NULL: unknown, or its account was read
 * before. */
struct thread *tracker_waiting(const struct tracker *tracker, const struct record *record);

/* Call before looking up a sample's addresses: reads stale maps, and writes modules held back while
 * the process had no samples. */
void tracker_prepare(struct tracker *tracker, struct process *process, uint64_t time_ns);

/* Counts a written sample. */
void tracker_count_sample(struct tracker *tracker, struct thread *thread);

/* Counts a used copy of a stack. */
void tracker_count_copy(struct tracker *tracker, size_t size);

/* Counts a sample lost for want of memory. */
void tracker_lose_sample(struct tracker *tracker, const struct record *record);

/* How a thread became known. */
enum tracker_birth {
	TRACKER_BORN,     /* by its fork, or exec gave it another id */
	TRACKER_LAUNCHED, /* before its exec */
	TRACKER_ATTACHED, /* its events are open */
	TRACKER_FOUND,    /* by another record: its fork was lost */
};

/* Who is told of the threads' lives, one call each. record: of the thread's end, or of its exec
 * under another id; NULL: it must have ended before, unseen. The thread's end is not yet written in
 * it. Threads that live on at the end do not end here. */
struct tracker_listener {
	void (*born)(void *user, struct thread *thread, enum tracker_birth birth);
	void (*ends)(void *user, struct thread *thread, uint64_t time_ns,
		     const struct record *record);
	void *user;
};

/* One listener, copied; before the first thread. */
void tracker_listen(struct tracker *tracker, const struct tracker_listener *listener);

/* A thread that has not ended; NULL: none of that id. */
struct thread *tracker_find_live(const struct tracker *tracker, uint32_t tid);

/* Iterates over threads that have not ended, in no order: *position is 0 before the first. NULL
 * after the last. */
struct thread *tracker_next_thread(const struct tracker *tracker, size_t *position);

/* The parts of a thread's CPU time in a tick. */
struct tick {
	uint64_t user_ns;   /* at the tick's stack; all of the time if kernel mode is sampled */
	uint64_t kernel_ns; /* in the kernel, unseen: without a stack */
	uint64_t lost_ns;   /* of lost samples: in no sample */
};

/* Counts a tick in its thread's account. */
struct tick tracker_count_tick(struct tracker *tracker, struct thread *thread,
			       const struct record *record);

/* Fills in a sample's weight, and the part in the kernel. is_kernel: all of it. */
void tracker_weigh(struct tracker *tracker, struct thread *thread, const struct tick *tick,
		   uint64_t period_ns, bool is_kernel, struct profile_stack *stack);

/* Keeps the time of a tick that was not drawn for the next sample. */
void tracker_keep_pending(struct tracker *tracker, struct thread *thread, const struct tick *tick,
			  bool is_kernel);

#endif
