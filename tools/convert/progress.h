/*
 * The progress of long work, on standard error if that is a terminal; else nothing.
 */
#ifndef TOOLS_CONVERT_PROGRESS_H
#define TOOLS_CONVERT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* borrowed */
	uint64_t total;
	unsigned shown; /* per cent */
	bool is_on;
	bool is_drawn;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);
/* Takes the bar away until the next update: before a message. */
void progress_hide(struct progress *progress);
/* Takes the bar away for good. */
void progress_end(struct progress *progress);

#endif
