/*
 * An analysis: a name for the sources of data that a collection has beside samples. Each is a row
 * of the table in analysis.c.
 */
#ifndef COLLECTOR_ANALYSIS_ANALYSIS_H
#define COLLECTOR_ANALYSIS_ANALYSIS_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct switch_lead;

struct analysis_config {
	enum profile_kernel_time kernel_time;
	bool unwind;
	bool collapse;
	bool switches;                        /* the threads' states over time */
	const struct switch_lead *lead;       /* theirs (states_follow_lead); NULL: of others */
	bool waits;                           /* what blocked threads wait for; needs switches */
	enum profile_wait_source wait_source; /* who sees the waits */
	uint64_t wait_threshold_ns;           /* shorter ones have no record */
	bool without_children;                /* as in waits_config */
	bool without_io_waits;                /* likewise */
	bool library;                         /* it may be in the processes: has_library */
};

struct analysis {
	const char *name;   /* on the command line and in the result */
	const char *suffix; /* two small letters: of the results' directories */
	bool switches;      /* as in analysis_config */
	bool waits;
};

/* All of them, the default one first; NULL: there is none with that index. */
const struct analysis *analysis_at(size_t index);

/* NULL: there is none of that name. */
const struct analysis *analysis_find(const char *name);

/* The names for a message, "a, b"; cut to size. */
void analysis_list(char *text, size_t size);

#endif
