/*
 * Ends long work at once on Ctrl-C, SIGTERM or the end of the terminal: reading files of others may
 * take as long as their owners want.
 */
#ifndef TOOLS_CONVERT_INTERRUPT_H
#define TOOLS_CONVERT_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct interrupt {
	sigset_t signals; /* to wait for */
	sigset_t before;  /* the signal mask before interrupt_watch */
	pthread_t thread;
	bool is_watched;
	const char *text;
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT print the text, one line, and end the program as
 * without handling; ignored signals stay ignored. The text and interrupt must live until
 * interrupt_hold. Call while there is only one thread. */
void interrupt_watch(struct interrupt *interrupt, const char *text);
/* From now on these signals wait: files are written whole. */
void interrupt_hold(struct interrupt *interrupt);
/* Restores the signals; a waiting signal ends the program here. */
void interrupt_release(struct interrupt *interrupt);

#endif
