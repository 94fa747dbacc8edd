/*
 * UTF-8 (RFC 3629), and libtbrw's functions in UTF-8 for the project's own libraries, beside the
 * guide's functions with wide strings. Not installed.
 *
 * Ill-formed text (Unicode 15, table 3-7) given to the API, as wide or as UTF-8, is an error,
 * VT_INVALID_STRING; so is a string of a file. A text of other programs is stored with U+FFFD in
 * its place. A terminal is shown its bytes, \xNN (profile/base/visible.h). Names of files are bytes
 * and stay as they are.
 */
#ifndef TBRW_UTF8_H
#define TBRW_UTF8_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define TB5_UTF8_ILL_FORMED UINT32_MAX

/* The code point at s[0..size), size > 0, or TB5_UTF8_ILL_FORMED for bytes at the start of no
 * well-formed sequence. Returns the bytes used, at least 1. */
size_t tb5_utf8_decode(const char *s, size_t size, uint32_t *code_point);

/* Returns the bytes stored, 1 to 4; 0: no Unicode scalar value. */
size_t tb5_utf8_encode(uint32_t code_point, char out[4]);

/* Copies size bytes as well-formed UTF-8 without NUL bytes; NUL counts as ill-formed. out has room
 * for 3 * size bytes, or is NULL to ask for the length only. Returns the length. */
size_t tb5_utf8_clean(const char *s, size_t size, char *out);

/* The largest length <= limit at which well-formed UTF-8 s[0..size) may be cut. */
size_t tb5_utf8_cut(const char *s, size_t size, size_t limit);

/* A wide string as UTF-8. out has room for all, without NUL, or is NULL to ask for the size only.
 * false: a character is no Unicode scalar value; *size is not set. */
bool tb5_utf8_from_wide(const wchar_t *wide, char *out, size_t *size);

/* The other way round; length and room are wide characters. false: U+FFFD stands for ill-formed
 * bytes. */
bool tb5_utf8_to_wide(const char *utf8, size_t size, wchar_t *out, size_t *length);

/* A new UTF-8 string with NUL, the caller's to free. VT_INVALID_STRING, VT_NO_MEMORY. */
TBRW_U32 tb5_utf8_dup_wide(const wchar_t *wide, char **utf8);

/* TBRW_open for a path of any bytes. */
TBRW_U32 tb5_utf8_open(TBRW_PTR *ptr, const char *path, TBRW_U32 access_mode);

/* *whole: bytes of a file before its first damaged chunk, all *size of them without one. Such a
 * part of a file is one that was never closed, or what was written before the last time it was
 * opened. Reads all of the file. VT_INVALID_SAMPLE_FILE: it is none. */
TBRW_U32 tb5_utf8_whole_size(const char *path, TBRW_U64 *whole, TBRW_U64 *size);

/* TBRW_convert_uniqueid_to_string into a new string with NUL, the caller's to free: *size bytes as
 * stored, well-formed UTF-8. Both outputs stay as they are where it fails. */
TBRW_U32 tb5_utf8_of_id(TBRW_PTR ptr, TBRW_STRING_OR_ID id, char **utf8, size_t *size);

#endif
