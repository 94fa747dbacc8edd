#include "tbrw/utf8.h"
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xFFFDu

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xC0u) == 0x80u;
}

/* Length of a lead byte's sequence, 0 for no lead byte. low and high bound the second byte, to
 * exclude overlong forms, surrogates and values over U+10FFFF. */
static size_t sequence_length(unsigned char lead, unsigned char *low, unsigned char *high)
{
	*low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
	*high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF)
		return 3;
	return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

size_t tb5_utf8_decode(const char *s, size_t size, uint32_t *code_point)
{
	unsigned char lead = (unsigned char)s[0];
	unsigned char low, high;

	if (lead < 0x80) {
		*code_point = lead;
		return 1;
	}
	*code_point = TB5_UTF8_ILL_FORMED;
	size_t length = sequence_length(lead, &low, &high);
	if (length == 0)
		return 1;
	uint32_t value = lead & (0x7Fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (i == size)
			return i;
		unsigned char byte = (unsigned char)s[i];
		if (!is_continuation(byte) || (i == 1 && (byte < low || byte > high)))
			return i;
		value = value << 6 | (byte & 0x3Fu);
	}
	*code_point = value;
	return length;
}

size_t tb5_utf8_encode(uint32_t code_point, char out[4])
{
	if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF))
		return 0;
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
	for (size_t i = length - 1; i > 0; i--, code_point >>= 6)
		out[i] = (char)(0x80 | (code_point & 0x3F));
	out[0] = (char)(0xF00 >> length | code_point);
	return length;
}

size_t tb5_utf8_clean(const char *s, size_t size, char *out)
{
	size_t length = 0;

	for (size_t at = 0; at < size;) {
		uint32_t code_point;
		char encoded[4];
		at += tb5_utf8_decode(s + at, size - at, &code_point);
		if (code_point == 0 || code_point == TB5_UTF8_ILL_FORMED)
			code_point = REPLACEMENT;
		size_t n = tb5_utf8_encode(code_point, encoded);
		for (size_t i = 0; out && i < n; i++)
			out[length + i] = encoded[i];
		length += n;
	}
	return length;
}

size_t tb5_utf8_cut(const char *s, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	while (limit > 0 && is_continuation((unsigned char)s[limit]))
		limit--;
	return limit;
}

bool tb5_utf8_from_wide(const wchar_t *wide, char *out, size_t *size)
{
	size_t total = 0;

	for (; *wide; wide++) {
		char encoded[4];
		size_t n = tb5_utf8_encode((uint32_t)*wide, encoded);
		if (n == 0)
			return false;
		for (size_t i = 0; out && i < n; i++)
			out[total + i] = encoded[i];
		total += n;
	}
	*size = total;
	return true;
}

bool tb5_utf8_to_wide(const char *utf8, size_t size, wchar_t *out, size_t *length)
{
	bool is_clean = true;
	size_t total = 0;

	for (size_t at = 0; at < size; total++) {
		uint32_t code_point;
		at += tb5_utf8_decode(utf8 + at, size - at, &code_point);
		is_clean &= code_point != TB5_UTF8_ILL_FORMED;
		if (out)
			out[total] = (wchar_t)(code_point == TB5_UTF8_ILL_FORMED ? REPLACEMENT
										 : code_point);
	}
	*length = total;
	return is_clean;
}

TBRW_U32 tb5_utf8_dup_wide(const wchar_t *wide, char **utf8)
{
	size_t size;

	if (!tb5_utf8_from_wide(wide, NULL, &size))
		return VT_INVALID_STRING;
	char *copy = malloc(size + 1);
	if (!copy)
		return VT_NO_MEMORY;
	tb5_utf8_from_wide(wide, copy, &size);
	copy[size] = 0;
	*utf8 = copy;
	return VT_SUCCESS;
}

/* The protocol of conversions: *size: in, the caller's room; out, the size needed, with NUL. */
static TBRW_U32 check_room(size_t needed, const void *out, TBRW_U32 *size)
{
	TBRW_U32 room = *size;

	if (needed > UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	*size = (TBRW_U32)needed;
	if (room < needed)
		return VT_BUFFER_TOO_SMALL;
	return out ? VT_SUCCESS : VT_BUFFER_NULL;
}

TBRW_U32 TBRW_convert_utf8_to_wcs(const char *utf8, wchar_t *wcs, TBRW_U32 *wcs_size)
{
	size_t length;

	if (!utf8 || !wcs_size)
		return VT_UNEXPECTED_NULL_PTR;
	if (!tb5_utf8_to_wide(utf8, strlen(utf8), NULL, &length))
		return VT_INVALID_STRING;
	TBRW_U32 code = check_room(length + 1, wcs, wcs_size);
	if (code != VT_SUCCESS)
		return code;
	tb5_utf8_to_wide(utf8, strlen(utf8), wcs, &length);
	wcs[length] = 0;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_convert_wcs_to_utf8(const wchar_t *wcs, char *utf8, TBRW_U32 *utf8_size)
{
	size_t size;

	if (!wcs || !utf8_size)
		return VT_UNEXPECTED_NULL_PTR;
	if (!tb5_utf8_from_wide(wcs, NULL, &size))
		return VT_INVALID_STRING;
	TBRW_U32 code = check_room(size + 1, utf8, utf8_size);
	if (code != VT_SUCCESS)
		return code;
	tb5_utf8_from_wide(wcs, utf8, &size);
	utf8[size] = 0;
	return VT_SUCCESS;
}
