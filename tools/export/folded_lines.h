/*
 * Folded stacks as a tree of names, for the texts of all lines may take far more memory than the
 * result. Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_EXPORT_FOLDED_LINES_H
#define TOOLS_EXPORT_FOLDED_LINES_H

#include "tools/memory/index_map.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct folded_lines { /* all zero: none */
	struct index_texts names;
	struct folded_step *steps; /* a parent comes before its children */
	struct index_map step_map;
};

void folded_lines_finish(struct folded_lines *lines);

/* The number of a name as lines have it: ';' belongs to the format and is ':', control characters
 * are '?'. */
uint32_t folded_lines_name(struct folded_lines *lines, const char *name);

/* Adds to the count of the line of these names, at least one. */
void folded_lines_add(struct folded_lines *lines, const uint32_t *names, size_t name_count,
		      uint64_t count);

/* "name;name COUNT" for each line, in the order of the texts' bytes. Counts are divided by `unit`
 * and rounded; lines of 0 are left out. Errors show in ferror. */
void folded_lines_write(const struct folded_lines *lines, uint64_t unit, FILE *stream);

#endif
