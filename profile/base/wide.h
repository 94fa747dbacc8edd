/* Strings of the TBRW API, which are wide, as UTF-8 and back. */
#ifndef TBRW_PROFILE_WIDE_H
#define TBRW_PROFILE_WIDE_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>

/* A wide string to hand to TBRW; a zeroed one is NULL. Reused, it keeps its memory. */
struct profile_wide {
	wchar_t *text;
	size_t capacity; /* wide characters */
};

/* Sets it to s, cleaned (utf8.h); NULL counts as "". false: out of memory. */
bool profile_wide_set(struct profile_wide *wide, const char *s);
void profile_wide_finish(struct profile_wide *wide);

/* The UTF-8 of a string id of the file, in memory that the caller frees, or NULL: *code says why.
 * No string is "". Ill-formed contents come out clean. */
char *profile_string_get(TBRW_PTR file, TBRW_STRING_OR_ID id, TBRW_U32 *code);

/* Copies the string if it is ASCII and fits into size bytes with its NUL; else out is "".
 * Does not allocate. Returns VT_SUCCESS but for VT_NO_MEMORY of TBRW. */
TBRW_U32 profile_string_short(TBRW_PTR file, TBRW_STRING_OR_ID id, char *out, size_t size);

/* Opens `path` with TBRW, whatever bytes the names of its directories hold; to read it, its own
 * name too. */
TBRW_U32 profile_file_open(TBRW_PTR *file, const char *path, TBRW_U32 access_mode);

#endif
