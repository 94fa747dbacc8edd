/* One life of one thread, and its CPU time by the event's counts. */
#ifndef COLLECTOR_MODEL_THREAD_H
#define COLLECTOR_MODEL_THREAD_H

#include "collector/context/stack_memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;

enum { THREAD_NAME_MAX = 32 };

/* A thread's event on a ring's CPU. */
struct thread_count {
	uint64_t last;    /* count */
	int64_t ahead_ns; /* weights of its samples, in what exceeds whole intervals */
	uint64_t gaps;    /* of its ring, at the last sample */
	uint64_t tick_ns; /* time of the last tick; 0: none */
};

struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_ns;
	uint64_t end_ns; /* PROFILE_TIME_NEVER while it lives */
	char name[THREAD_NAME_MAX];
	struct thread_count *counts; /* one per ring */
	size_t count_size;
	uint64_t cpu_ns;     /* its account: counted by ticks and final counts */
	uint64_t sampled_ns; /* the samples' weights, but for what of them is kernel_ns */
	uint64_t kernel_ns;  /* of the samples' weights: spent in the kernel, and of no stack */
	/* Of no sample. Samples of a fixed period: counted after the last one, or in a gap. At
	 * random times: spent in the kernel, for the next sample to carry. */
	uint64_t rest_ns;
	uint64_t unseen_ns;   /* what the account may lack (profile_thread.unseen_ns) */
	bool is_exact;        /* it lacks nothing */
	uint64_t before_ns;   /* by the kernel's account, what it had used before it was followed */
	uint32_t account_tid; /* the id that this account comes with, after the end; 0: none */
	uint32_t samples;
	bool is_head;          /* the event was opened for it: its account stays open to the end */
	uint32_t family;       /* the thread that the event was opened for */
	uint32_t final_counts; /* PERF_RECORD_READs that came after its end */
	struct stack_memory stack; /* what its next one builds on */
	struct thread *next_ended; /* the tracker's list of ended threads */
};

/* counts has a slot per ring. NULL: out of memory. */
struct thread *thread_create(uint32_t pid, uint32_t tid, const char *name, uint64_t start_ns,
			     size_t rings);
void thread_destroy(struct thread *thread); /* accepts NULL */

void thread_rename(struct thread *thread, const char *name);

/* CPU time since the last count on this ring: the weight of what is counted now. */
uint64_t thread_advance(struct thread *thread, size_t ring, uint64_t count);

/* Notes the time of a tick on this ring. */
void thread_note_tick(struct thread *thread, size_t ring, uint64_t time_ns);

/*
 * What the account may lack, as an expectation, at now_ns or the thread's end: on each ring that it
 * had ticks on, half of what it can have used since the last one; without any, since its birth.
 * tick_ns: the distance of ticks.
 */
struct thread_lack {
	uint64_t unseen_ns;
	/* The same of a thread that never waits: what is more than this was in the kernel, where no
	 * tick is seen. */
	uint64_t busy_ns;
};
struct thread_lack thread_lack(const struct thread *thread, uint64_t tick_ns, uint64_t now_ns);

/*
 * Of a sample's weight on this ring, what the thread spent in the kernel, where no sample is taken:
 * the intervals that ended there. Each sample that is taken stands for one of user code; the rest
 * are whole ones too, but for the moments by which a sample is late, and the next one's weight
 * less. Never more than the weight.
 */
uint64_t thread_unseen(struct thread *thread, size_t ring, uint64_t weight, uint64_t interval_ns);

/* Whether samples were lost since the thread's last one on this ring, so that nobody knows what
 * they were of. gaps: how often that was on the ring so far. */
bool thread_pass_gap(struct thread *thread, size_t ring, uint64_t gaps);

/* Writes its life. by_clock: the counts are the sampling intervals, not the event's. */
void thread_end(struct thread *thread, struct emit *emit, bool by_clock);

#endif
