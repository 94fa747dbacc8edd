/*
 * Ends long work at once on Ctrl-C, SIGTERM or the end of the terminal: reading files of others may
 * take as long as their owners want.
 */
#ifndef TOOLS_CONVERT_INTERRUPT_H
#define TOOLS_CONVERT_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Takes away what would be left behind; may only use what other threads do not change. */
typedef void interrupt_clean(void *user);

struct interrupt {
	sigset_t signals; /* to wait for */
	int first;        /* one of them, 0: there are none */
	sigset_t before;  /* the signal mask before interrupt_begin */
	pthread_t thread;
	bool is_watched;
	const char *text;
	interrupt_clean *clean;
	void *user;
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT wait, unless ignored: files are begun, and
 * written whole. Call while there is only one thread. */
void interrupt_begin(struct interrupt *interrupt);
/* From now on these signals call clean (NULL: nothing) in a thread of its own, print the text, one
 * line, and end the program as without handling. All must live until interrupt_hold. */
void interrupt_watch_with(struct interrupt *interrupt, const char *text, interrupt_clean *clean,
			  void *user);
/* Both at once, with nothing to clean. */
void interrupt_watch(struct interrupt *interrupt, const char *text);
/* From now on they wait again. A signal that came before ends the program here. */
void interrupt_hold(struct interrupt *interrupt);
/* Restores the signals; a waiting signal ends the program here. */
void interrupt_release(struct interrupt *interrupt);

#endif
