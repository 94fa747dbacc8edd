/* Wide strings for the TBRW API. */
#ifndef TBRW_PROFILE_WIDE_H
#define TBRW_PROFILE_WIDE_H

#include <stdbool.h>
#include <stddef.h>

/* A wide string; a zeroed one is NULL. Reused, it keeps its memory. */
struct profile_wide {
	wchar_t *text;
	size_t capacity; /* wide characters */
};

/* Sets *wide to s, with U+FFFD for ill-formed bytes (tbrw/utf8.h); NULL counts as "". false: out of
 * memory. */
bool profile_wide_set(struct profile_wide *wide, const char *s);
void profile_wide_finish(struct profile_wide *wide);

#endif
