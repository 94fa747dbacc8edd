/* The signals that a collection reacts to, as a file to poll. */
#ifndef COLLECTOR_SIGNALS_H
#define COLLECTOR_SIGNALS_H

#include "collector/failure.h"
#include <signal.h>
#include <stdbool.h>

struct signals {
	int fd;
};

struct signals_event {
	int number;         /* SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGCHLD */
	bool from_terminal; /* sent by the kernel to the whole process group */
};

/* Blocks the signals; old receives the mask of before, which a launched program gets. */
int signals_init(struct signals *signals, sigset_t *old, struct failure *failure);

/* Drops what is pending and puts the old mask back. */
void signals_finish(struct signals *signals, const sigset_t *old);

/* Takes the next pending one; false when there is none. */
bool signals_next(struct signals *signals, struct signals_event *event);

#endif
