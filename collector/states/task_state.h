/* A thread's state at a moment, from /proc/PID/task/TID/stat (proc_pid_stat(5)). */
#ifndef COLLECTOR_STATES_TASK_STATE_H
#define COLLECTOR_STATES_TASK_STATE_H

#include "profile/profile.h"
#include <stdint.h>

struct task_state {
	/* READY: it runs, or could; BLOCKED; STOPPED by a signal or a debugger; UNKNOWN: it is
	 * gone. */
	enum profile_state state;
	uint64_t age_ns; /* at least; the kernel counts in ticks, of 10 ms mostly */
};

struct task_state task_state_read(uint32_t pid, uint32_t tid);

#endif
