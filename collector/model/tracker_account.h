/* The threads' accounts of CPU time while ticks come, and what samples weigh by them. */
#ifndef COLLECTOR_MODEL_TRACKER_ACCOUNT_H
#define COLLECTOR_MODEL_TRACKER_ACCOUNT_H

#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* Whether accounts are the kernel's own, and BPF sends them. */
bool tracker_is_exact(const struct tracker *tracker);

bool tracker_is_random(const struct tracker *tracker);

/* Whether the events count what no tick can hit: kernel mode, which is not sampled. */
bool tracker_has_unseen(const struct tracker *tracker);

/* Whether each ended thread's last count comes from each ring. */
bool tracker_has_final_counts(const struct tracker *tracker);

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

/* Takes what a thread's next sample would carry. */
uint64_t tracker_take_pending(const struct tracker *tracker, struct thread *thread);

/* Counts a thread's final count on a ring. Returns whether it was the last one. */
bool tracker_count_final(struct tracker *tracker, struct thread *thread, uint64_t counted_ns,
			 size_t ring_index);

/* Whether more may become known of the thread's CPU time: its final counts, or for the thread
 * that events were opened for, what these read at the end. */
bool tracker_has_open_account(const struct tracker *tracker, const struct thread *thread);

/* Says what the account may lack, before it is written. */
void tracker_close_account(struct tracker *tracker, struct thread *thread);

/* What of the followed threads' time in no account was in the kernel, unseen; once all accounts are
 * closed. */
uint64_t tracker_unattributed_kernel_ns(const struct tracker *tracker);

#endif
