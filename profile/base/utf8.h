/* UTF-8 of texts that other programs made up: decoding never fails, an ill-formed sequence (Unicode
 * chapter 3, table 3-7) decodes as U+FFFD. Pure functions. */
#ifndef TBRW_PROFILE_UTF8_H
#define TBRW_PROFILE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define PROFILE_UTF8_REPLACEMENT 0xFFFDu

/* Decodes the code point at s[0..size), size > 0. Returns the bytes used, at least 1. */
size_t profile_utf8_decode(const char *s, size_t size, uint32_t *code_point);

/* Returns the bytes stored, 1 to 4. What is no Unicode scalar value is stored as U+FFFD. */
size_t profile_utf8_encode(uint32_t code_point, char out[4]);

/* Copies size bytes as well-formed UTF-8 without NUL bytes; NUL counts as ill-formed. out has room
 * for 3 * size bytes, or is NULL to ask for the length only. Returns the length. */
size_t profile_utf8_clean(const char *s, size_t size, char *out);

/* Clean wide string; out has room for size + 1, the last one NUL. Returns the length. */
size_t profile_utf8_to_wide(const char *s, size_t size, wchar_t *out);

/* The largest length <= limit at which well-formed UTF-8 s[0..size) may be cut. */
size_t profile_utf8_cut(const char *s, size_t size, size_t limit);

#endif
