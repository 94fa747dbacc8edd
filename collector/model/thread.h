/* One life of one thread, and its CPU time by the event's counts. */
#ifndef COLLECTOR_MODEL_THREAD_H
#define COLLECTOR_MODEL_THREAD_H

#include "collector/context/stack_memory.h"
#include "collector/model/stack_pages.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;

enum { THREAD_NAME_MAX = 32 };

/* A thread's event on a ring's CPU. */
struct thread_count {
	uint64_t last;    /* count */
	int64_t ahead_ns; /* excess of its samples' weights over whole intervals */
	uint64_t gaps;    /* of its ring, at the last sample */
	uint64_t tick_ns; /* time of the last tick; 0: none */
};

/* What a thread does, by its switches. */
struct thread_state {
	uint64_t since_ns;  /* of its present state; running: of the slice to be written next */
	uint64_t on_ns;     /* when it got the CPU, for the last time */
	uint64_t off_ns;    /* when it had left one before */
	uint64_t woken_ns;  /* off the CPUs: when it was woken; 0: not known */
	uint64_t looked_ns; /* attached: when /proc showed the first state */
	uint64_t losses;    /* of switches by the collection, at its last slice */
	uint64_t run_ns;    /* of all slices so far */
	uint32_t ready_ns;  /* of the slice to be written next, like all that follow */
	uint16_t cpu;
	uint8_t now; /* enum profile_state */
	uint8_t before;
	uint8_t flags;
	bool is_first; /* no switch came yet: a thread that can run may be running */
	bool is_held;  /* launched, and its exec did not come yet: not the program */
};

struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_ns; /* of a launched program: its exec's */
	uint64_t end_ns;   /* PROFILE_TIME_NEVER while it lives */
	char name[THREAD_NAME_MAX];
	struct thread_count *counts; /* one per ring */
	size_t count_size;
	uint64_t cpu_ns;     /* its account: counted by ticks and final counts */
	uint64_t sampled_ns; /* the samples' weights without kernel_ns */
	uint64_t kernel_ns;  /* of the samples' weights: in the kernel, without a stack */
	/* Of no sample. Fixed period: counted after the last sample, or in a gap. Random times:
	 * spent in the kernel, carried by the next sample. */
	uint64_t rest_ns;
	uint64_t unseen_ns;   /* missing from the account, estimated (profile_thread.unseen_ns) */
	bool is_exact;        /* the account lacks nothing */
	uint64_t before_ns;   /* CPU time by the kernel's account before the thread was followed */
	uint32_t account_tid; /* thread id in the account after the end; 0: none */
	uint32_t samples;
	bool is_gone;              /* ended, and no more in /proc */
	bool is_launched;          /* and its exec did not come yet */
	bool is_head;              /* has events of its own: the account stays open to the end */
	uint32_t family;           /* the thread for which the event was opened */
	uint32_t final_counts;     /* PERF_RECORD_READs after its end */
	struct stack_memory stack; /* for its next stack to build on */
	struct stack_mapping stack_mapping;
	struct thread_state state; /* the states' (states/states.h) */
	struct thread *next_ended; /* the tracker's list of ended threads */
};

/* counts has a slot per ring. NULL: out of memory. */
struct thread *thread_create(uint32_t pid, uint32_t tid, const char *name, uint64_t start_ns,
			     size_t rings);
void thread_destroy(struct thread *thread); /* accepts NULL */

void thread_rename(struct thread *thread, const char *name);

/* CPU time since the last count on this ring: the weight of the current tick. */
uint64_t thread_advance(struct thread *thread, size_t ring, uint64_t count);

/* Notes the time of a tick on this ring. */
void thread_note_tick(struct thread *thread, size_t ring, uint64_t time_ns);

/*
 * The expected CPU time missing from the account at now_ns or the thread's end: on each ring with
 * ticks of the thread, half of the possible use since the last tick; without ticks, since the
 * thread's birth. tick_ns: the distance of ticks.
 */
struct thread_lack {
	uint64_t unseen_ns;
	/* The same for a thread that never waits: missing time above this was spent in the kernel,
	 * where ticks see nothing. */
	uint64_t busy_ns;
};
struct thread_lack thread_lack(const struct thread *thread, uint64_t tick_ns, uint64_t now_ns);

/*
 * The part of a sample's weight on this ring that the thread spent in the kernel, where no sample
 * is taken: the intervals that ended there. Each sample stands for one interval of user code. The
 * rest is whole intervals too, but for a sample's lateness, which the next sample's weight lacks.
 * Never more than the weight.
 */
uint64_t thread_unseen(struct thread *thread, size_t ring, uint64_t weight, uint64_t interval_ns);

/* Whether the ring lost samples, of whatever threads, since the thread's last sample on it. gaps:
 * the ring's number of losses so far. */
bool thread_pass_gap(struct thread *thread, size_t ring, uint64_t gaps);

/* Writes the thread's life. by_clock: the counts are the sampling intervals, not the event's. */
void thread_end(struct thread *thread, struct emit *emit, bool by_clock);

#endif
