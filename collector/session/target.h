/* The program that a collection launches. */
#ifndef COLLECTOR_SESSION_TARGET_H
#define COLLECTOR_SESSION_TARGET_H

#include "collector/machine/failure.h"
#include "collector/session/signals.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	pid_t pid;
	int go_fd;    /* written to let the child exec; closing it makes the child end instead */
	int error_fd; /* tells why exec failed; end of file: it did not */
	bool ended;
	int exit_status; /* as a shell shows it, once ended */
	uint64_t cpu_ns; /* user and system time of it and its waited-for children, once ended */
};

/* Forks a child that waits. It will run with the signals as they were before signals_init, in our
 * process group and with everything else as it is now. */
int target_fork(struct target *target, char **argv, const struct signals *signals,
		struct failure *failure);

/* Lets the child exec, and waits until it did. */
int target_start(struct target *target, const char *program, struct failure *failure);

/* Ends a child that was not started. */
void target_cancel(struct target *target);

/* Looks whether the program ended (wait: until it did). */
void target_check(struct target *target, bool wait);

#endif
