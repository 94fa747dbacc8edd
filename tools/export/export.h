/*
 * Formats to export a result to. To add one: a file with its write function, a row in export.c.
 */
#ifndef TOOLS_EXPORT_EXPORT_H
#define TOOLS_EXPORT_EXPORT_H

#include "profile/read/reader.h"
#include <stdbool.h>
#include <stdio.h>

struct export_options {
	bool with_threads; /* keep threads apart */
};

struct export_format {
	const char *name;
	const char *what; /* for --help */
	/* Returns the reader's code; errors of the stream show in ferror. */
	TBRW_U32(*write)
	(struct profile_reader *reader, const struct export_options *options, FILE *stream);
};

/* NULL behind the last one. */
const struct export_format *export_format_at(size_t index);
const struct export_format *export_format_find(const char *name);

/* Folded stacks: "process;root;...;leaf COUNT", one line per distinct stack, COUNT is samples; with
 * threads "process;name-tid;root;...". Lines are sorted. */
TBRW_U32 export_folded_write(struct profile_reader *reader, const struct export_options *options,
			     FILE *stream);

#endif
