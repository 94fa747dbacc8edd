/*
 * What reaches a terminal: nothing in it that steers the terminal (profile/base/visible.h).
 */
#ifndef TOOLS_CLI_TERMINAL_H
#define TOOLS_CLI_TERMINAL_H

#include <stddef.h>

/* A text without anything of the kind, for the caller to free. */
char *terminal_text(const char *text);

/* A stream that comes in pieces, which may split a character. All zero: at its start. */
struct terminal_filter {
	char held[4]; /* the beginning of a character whose end is still to come */
	size_t held_size;
};

/* The piece as a terminal may have it, lines and tabs as they are; what was held comes first. For
 * the caller to free; *shown_size bytes. bytes NULL: the stream ends, nothing is held back. */
char *terminal_filter_piece(struct terminal_filter *filter, const char *bytes, size_t size,
			    size_t *shown_size);

#endif
