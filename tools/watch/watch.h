/*
 * Shows a report of a collection that goes on, again each second, on a terminal.
 */
#ifndef TOOLS_WATCH_WATCH_H
#define TOOLS_WATCH_WATCH_H

#include "tools/cli/output.h"
#include <stdbool.h>
#include <stdint.h>

/* What was there when a report was made. */
struct watch_moment {
	bool is_complete; /* the collection ended */
	uint64_t samples;
	uint64_t since_start_ns; /* of the last sync point: once a second */
};

/* Writes a report of what the result has by now, for a screen of that many lines and columns.
 * Returns 0, or the exit status after a message. */
typedef int watch_report(struct output *output, unsigned rows, unsigned width,
			 struct watch_moment *moment, void *user);

/* Why nothing can be watched here, a message for the caller to free; NULL: it can. */
char *watch_refuse(void);

/* Returns when the collection has ended, or has written nothing for 10 s (its collector writes each
 * second); the terminal is as before. A report is made again a second after the last one was begun,
 * or later: the making takes a fifth of the time at most. path: of the tb5 file. Returns 0, or the
 * exit status of a report that failed. Ctrl-C ends the program. */
int watch_run(const char *path, watch_report *report, void *user);

#endif
