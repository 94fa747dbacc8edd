/* The launched program. */
#ifndef COLLECTOR_SESSION_TARGET_H
#define COLLECTOR_SESSION_TARGET_H

#include "collector/message/failure.h"
#include "collector/session/signals.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid;
	int go_fd;    /* written to let the child exec; closing it makes the child end instead */
	int error_fd; /* has exec's error; end of file: exec succeeded */
	bool ended;
	int exit_status; /* as a shell shows it, once ended */
	uint64_t cpu_ns; /* user and system time, with waited-for children, once ended */
};

/* Forks a waiting child. Its program will run with the signals from before signals_init, in our
 * process group and with everything else as it is now. environment: its variables; NULL: ours. */
int target_fork(struct target *target, char **argv, char **environment,
		const struct signals *signals, struct failure *failure);

/* Lets the child exec, and waits for the exec. */
int target_start(struct target *target, const char *program, struct failure *failure);

/* Ends a child not yet started. */
void target_cancel(struct target *target);

/* Checks for the program's end (wait: waits for it). */
void target_check(struct target *target, bool wait);

#endif
