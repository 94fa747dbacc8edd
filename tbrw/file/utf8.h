/* UTF-8 (RFC 3629) to and from wide strings. Strict: surrogates, overlong forms and values above
 * U+10FFFF are errors in both directions. */
#ifndef TBRW_UTF8_H
#define TBRW_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* Writes at most `capacity` bytes to `out`, without terminator; *size is what the whole string
 * takes, even if that is more. False: the string cannot be converted. */
bool tb5_utf8_from_wcs(const wchar_t *wcs, char *out, size_t capacity, size_t *size);

/* Likewise for `utf8_size` bytes of UTF-8; capacity and *size count wide characters. */
bool tb5_utf8_to_wcs(const char *utf8, size_t utf8_size, wchar_t *out, size_t capacity,
		     size_t *size);

/* A new UTF-8 string with terminator, the caller's to free. NULL and *invalid: cannot be
 * converted; NULL and !*invalid: no memory. */
char *tb5_utf8_dup_wcs(const wchar_t *wcs, bool *invalid);

#endif
