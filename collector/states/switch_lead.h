/*
 * How much longer a thread runs by the scheduler's account than by the records of its switches. The
 * account goes on from the decision to switch to the thread (update_curr, kernel/sched/fair.c); the
 * record is written behind the switch and the start of the thread's events (kernel/events/core.c,
 * perf_event_task_sched_in), whose timers alone take microseconds on a virtual machine.
 *
 * One thread is followed at a time, and its account read from /proc now and then. Records are
 * applied some time after they were written, so the account is of a later stretch of the thread's
 * life than the switches; compared are the mean times that it was on a CPU.
 */
#ifndef COLLECTOR_STATES_SWITCH_LEAD_H
#define COLLECTOR_STATES_SWITCH_LEAD_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. Times are ns. */
struct switch_lead {
	uint32_t tid;        /* followed; 0: none */
	uint64_t asked_ns;   /* its last account was, by its records */
	uint64_t failed_ns;  /* no account could be read; 0: never */
	uint64_t since_ns;   /* of the account that is compared with */
	uint64_t account_ns; /* CPU time in it */
	uint64_t account_times;
	uint64_t in_ns;  /* on a CPU since then; 0: not there, or nobody knows */
	uint64_t ran_ns; /* between its switches, since */
	uint64_t times;  /* it came to a CPU, since */
	int64_t sum_ns;  /* what is known: time without a record, and of how many switches */
	uint64_t sum_times;
};

/* A thread came to a CPU, or left it. */
void switch_lead_in(struct switch_lead *lead, uint32_t tid, uint64_t time_ns);
void switch_lead_out(struct switch_lead *lead, uint32_t tid, uint64_t time_ns);

/* Whether the account of a thread that comes to a CPU now would be of use. */
bool switch_lead_asks(const struct switch_lead *lead, uint32_t tid, uint64_t time_ns);

/* That account: CPU time, and how often the thread came to a CPU. */
void switch_lead_account(struct switch_lead *lead, uint32_t tid, uint64_t time_ns,
			 uint64_t account_ns, uint64_t account_times);

/* There was none: the thread is gone, or the kernel has no accounts. Nobody is asked for a while.
 */
void switch_lead_fail(struct switch_lead *lead, uint64_t time_ns);

/* Records were lost: another thread, or the same one, begins anew. */
void switch_lead_forget(struct switch_lead *lead);

/* The mean of each switch; 0 until enough is known. */
uint64_t switch_lead_ns(const struct switch_lead *lead);

#endif
