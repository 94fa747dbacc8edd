/* A thread's state at a moment, from /proc/PID/task/TID/stat (proc_pid_stat(5)). */
#ifndef COLLECTOR_STATES_TASK_STATE_H
#define COLLECTOR_STATES_TASK_STATE_H

#include "profile/profile.h"
#include <stdint.h>

/* READY: it runs, or could; BLOCKED; STOPPED by a signal or a debugger; UNKNOWN: it is gone. */
enum profile_state task_state_read(uint32_t pid, uint32_t tid);

#endif
