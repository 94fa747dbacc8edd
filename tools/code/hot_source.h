/*
 * The source text of the functions with the most CPU time of their own.
 */
#ifndef TOOLS_CODE_HOT_SOURCE_H
#define TOOLS_CODE_HOT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_input;

/* Functions at most, and those whose files are looked for; lines of each, and bytes of all. */
#define HOT_SOURCE_FUNCTIONS 20u
#define HOT_SOURCE_TRIED     200u
#define HOT_SOURCE_LINES     400u
#define HOT_SOURCE_BYTES     ((size_t)256 << 10)

struct hot_source {
	const char *file; /* as the result names it */
	uint32_t first;   /* line, from 1 on */
	const char *text; /* lines as of source_text_line, each with a line feed */
	bool is_changed;  /* the file, after the collection */
};

/* Valid during the call. */
typedef void hot_source_take(const struct hot_source *source, void *user);

/* Calls take for each function, the hottest first, with the lines that have time and some around
 * them; of a long function those around its hottest line. Functions whose files cannot be read are
 * left out, without a message. The input's options have the directories of source files. */
void hot_source_each(const struct report_input *input, hot_source_take *take, void *user);

#endif
