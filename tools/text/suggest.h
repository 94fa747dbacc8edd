/*
 * Suggestions for a name that does not exist.
 */
#ifndef TOOLS_TEXT_SUGGEST_H
#define TOOLS_TEXT_SUGGEST_H

#include <stddef.h>

/* "A, B or C" of at least one name (NULL behind the last one), for the caller to free. */
char *suggest_list(const char *const *names);

/* Sets *chosen to the index of an option's value among the names. Returns NULL, or the problem's
 * text for the caller to free: "--OPTION NAME: no such WHAT; use A, B or C". */
char *suggest_choose(const char *option, const char *what, const char *const *names,
		     const char *name, size_t *chosen);

/* "did you mean A, B or C?" with at most three of the names (NULL behind the last one): those one
 * or two slips of the keyboard away, and those with `name` at their start or inside; "see HELP" if
 * there are none. The caller frees the text. */
char *suggest_advise(const char *name, const char *const *names, const char *help);

#endif
