/*
 * The terminal of standard output, drawn again and again on its other screen (xterm's control
 * sequences), and afterwards as before: also when a signal ends or stops the program meanwhile.
 * One thread; one screen at a time.
 */
#ifndef TOOLS_WATCH_SCREEN_H
#define TOOLS_WATCH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen {
	bool is_drawn;
	int errors; /* where standard error was; -1: as it was */
	int kept;   /* what is said on standard error meanwhile (memfd) */
};

/* Whether standard output can be drawn on: a terminal, and no dumb one. */
bool screen_is_there(void);

/* Lines of the terminal; 24 if it does not say. */
unsigned screen_rows(void);

/* From now on standard error is kept. */
void screen_begin(struct screen *screen);

/* Shows the text's first lines, as many as there is room for, cut at the right edge. The text may
 * set colours, and steer the terminal in no other way. From the first time on SIGINT, SIGTERM,
 * SIGHUP and SIGQUIT end the program as without handling, unless they are ignored; SIGTSTP stops
 * it. */
void screen_draw(struct screen *screen, const char *text, size_t size);

/* What was said on standard error since the last call, for the caller to free and to show. */
char *screen_take_errors(const struct screen *screen);

/* The earlier screen is back; what was said on standard error and not taken goes there. */
void screen_end(struct screen *screen);

#endif
