/* What /proc says of a thread at a moment (proc_pid_stat(5); schedstat: Linux,
 * Documentation/scheduler/sched-stats.rst). */
#ifndef COLLECTOR_STATES_TASK_STATE_H
#define COLLECTOR_STATES_TASK_STATE_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct task_state {
	/* READY: it runs, or could; BLOCKED; STOPPED by a signal or a debugger; UNKNOWN: it is
	 * gone. */
	enum profile_state state;
	uint64_t age_ns; /* at least; the kernel counts in ticks, of 10 ms mostly */
};

struct task_state task_state_read(uint32_t pid, uint32_t tid);

/* The scheduler's account: CPU time, and how often the thread came to a CPU. false: it is gone, or
 * the kernel has none. */
bool task_account_read(uint32_t pid, uint32_t tid, uint64_t *cpu_ns, uint64_t *times);

#endif
