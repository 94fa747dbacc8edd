/*
 * Text of other programs (names of functions, processes, files) as a terminal may show it:
 * characters that would steer the terminal, or make a line read otherwise, become escapes in plain
 * text. \x1b stands for a control character or a byte outside UTF-8, \u202e and \U000e0041 for an
 * invisible character: controls U+0080..U+009F, direction, zero width, line and paragraph
 * separators, tags (Unicode 15, general categories Cc, Cf but for U+00AD, Zl, Zp). Pure functions.
 */
#ifndef TBRW_PROFILE_VISIBLE_H
#define TBRW_PROFILE_VISIBLE_H

#include <stddef.h>

#define PROFILE_VISIBLE_MAX    10u /* bytes for a character at most */
#define PROFILE_VISIBLE_FACTOR 4u  /* bytes for a byte of text at most */

/* The character at s[0..size), size > 0. Returns the bytes used, at least 1; *length are stored. */
size_t profile_visible_next(const char *s, size_t size, char out[PROFILE_VISIBLE_MAX],
			    size_t *length);

/* All of a text, with a NUL. out has room for PROFILE_VISIBLE_FACTOR * strlen(text) + 1 bytes. */
void profile_visible_text(const char *text, char *out);

#endif
