/* The signals that a collection reacts to, as a file to poll. */
#ifndef COLLECTOR_SESSION_SIGNALS_H
#define COLLECTOR_SESSION_SIGNALS_H

#include "collector/message/failure.h"
#include <signal.h>
#include <stdbool.h>

enum { SIGNALS_DISPOSITIONS = 3 };

struct signals {
	int fd;
	sigset_t mask;                                 /* of before */
	struct sigaction before[SIGNALS_DISPOSITIONS]; /* what a launched program gets back */
};

struct signals_event {
	int number;         /* SIGCHLD, or one that is the program's business */
	bool from_terminal; /* sent by the kernel to the whole process group */
};

/* Blocks the signals to be polled for. A broken pipe and a file size limit become errors of the
 * call that meets them, and children are waited for, whatever tbcollect was started with. */
int signals_init(struct signals *signals, struct failure *failure);

/* Gives this process, a child about to exec, what tbcollect was started with. */
void signals_restore(const struct signals *signals);

/* Drops what is pending and puts the old mask back. */
void signals_finish(struct signals *signals);

/* Whether a signal asks programs to end: it ends a finalization at once, and a collection of
 * attached processes. */
static inline bool signals_asks_to_end(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Takes the next pending one; false when there is none. */
bool signals_next(struct signals *signals, struct signals_event *event);

#endif
