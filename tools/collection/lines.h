/*
 * Lines of text under labels, wrapped at words to fit a width.
 */
#ifndef TOOLS_COLLECTION_LINES_H
#define TOOLS_COLLECTION_LINES_H

#include <stdio.h>

struct lines {
	FILE *stream; /* for the lines; memory */
	char *text;
	size_t size;
};

/* To be ended by lines_end. Without memory the program ends (tools/memory/xalloc.h). */
void lines_begin(struct lines *lines);

#define LINES_LABEL_WIDTH 26

/* Begins a line with a label; the text starts at LINES_LABEL_WIDTH. */
void lines_label(FILE *stream, const char *label);

/* Prints the text of lines->stream. A line wider than `width` columns (0: any) continues in the
 * next one, `indent` columns further right; after "Warning: ", below its text. Words are never
 * cut. */
void lines_end(struct lines *lines, size_t indent, unsigned width, FILE *stream);

#endif
