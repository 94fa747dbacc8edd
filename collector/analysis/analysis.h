/*
 * An analysis: what is made of the records of a collection. Each is a row of the table in
 * analysis.c and a file of its own, which only the row names.
 */
#ifndef COLLECTOR_ANALYSIS_ANALYSIS_H
#define COLLECTOR_ANALYSIS_ANALYSIS_H

#include "collector/model/tracker.h"
#include "collector/perf/record.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;

struct analysis_config {
	enum profile_kernel_time kernel_time;
	bool unwind;
	bool collapse;
};

struct analysis {
	const char *name;   /* on the command line and in the result */
	const char *suffix; /* two small letters: of the results' directories */

	/* What the others get as their first argument. tracker and emit are borrowed; the tracker
	 * is destroyed first. NULL: out of memory. */
	void *(*create)(const struct analysis_config *config, struct tracker *tracker,
			struct emit *emit);

	/* Applies one record, to the tracker first. A RECORD_TICK only tells what its thread has
	 * used. */
	void (*apply)(void *state, const struct record *record);

	/* Ends the tracker (tracker_finish), and writes what is known at the end. Comes once, after
	 * the last record. */
	void (*finish)(void *state);

	void (*destroy)(void *state); /* accepts NULL; writes nothing */
};

/* All of them, the default one first; NULL: there is none with that index. */
const struct analysis *analysis_at(size_t index);

/* NULL: there is none of that name. */
const struct analysis *analysis_find(const char *name);

/* The names for a message, "a, b"; cut to size. */
void analysis_list(char *text, size_t size);

#endif
