/*
 * Ending long work at once when the user wants it: Ctrl-C, SIGTERM, a terminal that closes. Reading
 * others' files may take as long as these want it to.
 */
#ifndef TOOLS_CONVERT_INTERRUPT_H
#define TOOLS_CONVERT_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct interrupt {
	sigset_t signals; /* that are waited for */
	sigset_t before;  /* the mask */
	pthread_t thread;
	bool is_watched;
	const char *text;
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT say the text, one line, and end the program as
 * they do without handling; those that are ignored stay so. The text and interrupt must live until
 * interrupt_hold. To be called while there is one thread. */
void interrupt_watch(struct interrupt *interrupt, const char *text);
/* From now on they wait: what is written now is written whole. */
void interrupt_hold(struct interrupt *interrupt);
/* From now on they are what they were before; one that waits ends the program here. */
void interrupt_release(struct interrupt *interrupt);

#endif
