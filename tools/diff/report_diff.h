/*
 * The report diff: results side by side, and which differences mean something.
 */
#ifndef TOOLS_DIFF_REPORT_DIFF_H
#define TOOLS_DIFF_REPORT_DIFF_H

#include "tools/report/report_options.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct matched;

/* What was found beside the rows. */
struct report_diff_outcome {
	bool is_slower; /* a row, or the whole, by more than --fail-above */
	bool has_factor;
	double factor; /* of time, new over base, that changes are beyond (comparison.h) */
};

/* The rows of a comparison of two sides: the first runs, report_diff_base_runs, and the others.
 * Options that do not fit the table: prints nothing, *problem is the text for the caller to free;
 * else it is NULL. */
struct report_diff_outcome report_diff_print(const struct matched *matched,
					     const struct report_options *options, FILE *stream,
					     unsigned width, char **problem);

static inline size_t report_diff_base_runs(const struct report_options *options)
{
	return options->base_count > 0 ? options->base_count : 1;
}

/* A column for each run, under its name. Likewise. */
void report_runs_print(const struct matched *matched, const struct report_options *options,
		       FILE *stream, unsigned width, char **problem);

/* Reads the options' results, each once, and adds them to each of so many `matched`, which have
 * their number of runs. Returns 0, or the exit status after a message. */
int report_diff_read(struct matched *const *matched, size_t count,
		     const struct report_options *options);

/* The exit status of a diff that was written, after a message where it is DIFF_EXIT_SLOWER. */
int report_diff_judge(const struct report_options *options, bool is_slower);

/* Prints the report of the options' results. Returns the exit status; after a message, but for
 * DIFF_EXIT_SLOWER. */
#define DIFF_EXIT_SLOWER 3
int report_diff_run(const struct report_options *options);

#endif
