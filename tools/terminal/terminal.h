/*
 * Text for terminals, without anything to steer the terminal (profile/base/visible.h).
 */
#ifndef TOOLS_TERMINAL_TERMINAL_H
#define TOOLS_TERMINAL_TERMINAL_H

#include <stddef.h>

/* The text with control characters made visible, for the caller to free. */
char *terminal_text(const char *text);

/* A stream in pieces, whose ends may split a character. All zero: at its start. */
struct terminal_filter {
	char held[4]; /* the first bytes of an incomplete character */
	size_t held_size;
};

/* The held bytes and the piece, made visible but for line feeds and tabs. The caller frees the text
 * of *shown_size bytes. bytes NULL: the stream ends, nothing is held back. */
char *terminal_filter_piece(struct terminal_filter *filter, const char *bytes, size_t size,
			    size_t *shown_size);

/* Colours of text on a terminal (ECMA-48, SGR). */
enum terminal_colour {
	TERMINAL_PLAIN,
	TERMINAL_BOLD,
	TERMINAL_RED,
	TERMINAL_GREEN,
};

/* Sets the colour of what is written next. */
struct terminal_painter {
	void (*set)(void *user, enum terminal_colour colour);
	void *user;
};

/* NULL: there are no colours. */
void terminal_paint(const struct terminal_painter *painter, enum terminal_colour colour);

/* What a terminal is sent for a colour. */
const char *terminal_colour_code(enum terminal_colour colour);

#endif
