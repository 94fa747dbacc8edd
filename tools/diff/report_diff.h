/*
 * The report diff: results side by side, and which differences mean something.
 */
#ifndef TOOLS_DIFF_REPORT_DIFF_H
#define TOOLS_DIFF_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct matched;
struct report_options;

/* The rows of a comparison of two sides: the first base_runs of the runs, and the others. Returns
 * whether a row, or the whole, is slower by more than --fail-above. Options that do not fit the
 * table: prints nothing, *problem is the text for the caller to free; else it is NULL. */
bool report_diff_print(const struct matched *matched, size_t base_runs,
		       const struct report_options *options, FILE *stream, unsigned width,
		       char **problem);

/* A column for each run, under its name. Likewise. */
void report_runs_print(const struct matched *matched, const struct report_options *options,
		       FILE *stream, unsigned width, char **problem);

/* Prints the report of the options' results. Returns the exit status; after a message, but for
 * DIFF_EXIT_SLOWER. */
#define DIFF_EXIT_SLOWER 3
int report_diff_run(const struct report_options *options);

#endif
