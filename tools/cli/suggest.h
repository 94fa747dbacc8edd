/*
 * What a user may have meant by a name that there is not.
 */
#ifndef TOOLS_CLI_SUGGEST_H
#define TOOLS_CLI_SUGGEST_H

/* "A, B or C" of at least one name (NULL behind the last one), for the caller to free. */
char *suggest_list(const char *const *names);

/* "did you mean A, B or C?" with three at most of the names (NULL behind the last one) that are a
 * slip of the keyboard or two away, begin so or have it in them; where none is, "see HELP". For the
 * caller to free. */
char *suggest_advise(const char *name, const char *const *names, const char *help);

#endif
