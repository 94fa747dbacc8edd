/*
 * Formats to export a result to. To add one: a file with its write function, a row in export.c. A
 * format sees the result as weighted stacks.
 */
#ifndef TOOLS_EXPORT_EXPORT_H
#define TOOLS_EXPORT_EXPORT_H

#include "tools/stacks/weighted_stacks.h"
#include <stdbool.h>
#include <stdio.h>

struct export_options {
	bool with_threads; /* keep threads apart */
};

struct export_format {
	const char *name;
	const char *what; /* for --help */
	/* Errors show in ferror(stream). */
	void (*write)(struct weighted_stacks *stacks, const struct export_options *options,
		      FILE *stream);
};

/* NULL behind the last one. */
const struct export_format *export_format_at(size_t index);
const struct export_format *export_format_find(const char *name);

/* Folded stacks: "process;root;...;leaf COUNT", one line per distinct stack, COUNT is samples; with
 * threads "process;name-tid;root;...". Lines are sorted. */
void export_folded_write(struct weighted_stacks *stacks, const struct export_options *options,
			 FILE *stream);

#endif
