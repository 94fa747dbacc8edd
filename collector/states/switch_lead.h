/*
 * How long before the record of its switch a thread's run begins by the scheduler's account. The
 * account goes on from the decision to switch to the thread (update_curr, kernel/sched/fair.c); the
 * record is written behind the switch and the start of the thread's events (kernel/events/core.c,
 * perf_event_task_sched_in), whose timers alone take microseconds on a virtual machine.
 *
 * The records of a round are shown before they are applied (drain_watcher). Then the accounts of
 * the threads that switch most are read, so that both are of the same stretch of a thread's life,
 * and the round's own runs begin where the accounts do.
 *
 * Whether the CPU idled before a run, no record tells. A run therefore begins where the thread
 * before it left the CPU, but no longer than the lead before its record; the lead is what makes the
 * sum of such runs equal to the accounts.
 *
 * Shown and asked by one thread at a time, in any; the lead is read in another one meanwhile.
 */
#ifndef COLLECTOR_STATES_SWITCH_LEAD_H
#define COLLECTOR_STATES_SWITCH_LEAD_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stdint.h>

/* No switch takes longer, even if the host of a virtual machine takes the CPU meanwhile. ns. */
#define SWITCH_LEAD_MAX 163840u

enum {
	SWITCH_LEAD_THREADS = 16, /* followed at a time; one that switches less gives way */
	SWITCH_LEAD_CPUS = 256,   /* with a known last thread */
	SWITCH_LEAD_STEP = 1024,  /* ns */
	SWITCH_LEAD_GAPS = SWITCH_LEAD_MAX / SWITCH_LEAD_STEP + 1 /* the last one: longer */
};

/* Of some switches to threads. Times are ns. */
struct switch_gaps {
	int64_t lead_ns; /* of all: time in accounts without a record */
	uint32_t times;
	struct {
		uint32_t times;
		uint64_t sum_ns;  /* at most SWITCH_LEAD_MAX each */
	} gaps[SWITCH_LEAD_GAPS]; /* by the time since the CPU was left */
};

struct switch_lead_thread {
	uint32_t tid; /* 0: none */
	uint32_t pid;
	bool has_account; /* else it is known from its first record on */
	uint64_t account_ns;
	uint64_t account_times;
	uint64_t in_ns;  /* on a CPU since then; 0: not there, or nobody knows */
	uint64_t ran_ns; /* between its switches, since the account */
	uint64_t rivals; /* times that others of its place came to a CPU, since */
	struct switch_gaps gaps;
};

/* All zero at first. */
struct switch_lead {
	struct switch_lead_thread threads[SWITCH_LEAD_THREADS]; /* by the last digits of the id */
	uint64_t left_ns[SWITCH_LEAD_CPUS];                     /* by whatever thread of ours */
	uint64_t asked_ns;
	struct switch_gaps known;
	uint64_t found_ns;
};

/* Shows the next switch or end of a thread, in the order of its CPU. */
void switch_lead_show(struct switch_lead *lead, const struct record_switch *found);

/* All switches up to now_ns, more or less, were shown: reads some accounts, if it is time to. */
void switch_lead_ask(struct switch_lead *lead, uint64_t now_ns);

/* ns; 0 until enough is known. */
uint64_t switch_lead_ns(const struct switch_lead *lead);

#endif
