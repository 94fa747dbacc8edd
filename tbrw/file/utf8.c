#include "tbrw/file/utf8.h"

#include "tbrw/tbrw.h"
#include <stdint.h>
#include <stdlib.h>

static bool is_scalar(uint32_t c)
{
	return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

static size_t utf8_encode(uint32_t c, unsigned char out[4])
{
	if (c < 0x80) {
		out[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (unsigned char)(0xC0 | c >> 6);
		out[1] = (unsigned char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (unsigned char)(0xE0 | c >> 12);
		out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
		out[2] = (unsigned char)(0x80 | (c & 0x3F));
		return 3;
	}
	out[0] = (unsigned char)(0xF0 | c >> 18);
	out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
	out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
	out[3] = (unsigned char)(0x80 | (c & 0x3F));
	return 4;
}

/* The length of the sequence at `p`, or 0 if it is malformed or longer than `left`. */
static size_t utf8_decode(const unsigned char *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;

	if (p[0] < 0x80) {
		*c = p[0];
		return 1;
	}
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		n = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		n = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		n = 4;
	else
		return 0;
	if (n > left)
		return 0;
	*c = p[0] & (0xFFu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3F);
	}
	return *c >= least[n] && is_scalar(*c) ? n : 0;
}

bool tb5_utf8_from_wcs(const wchar_t *wcs, char *out, size_t capacity, size_t *size)
{
	size_t total = 0;

	for (; *wcs; wcs++) {
		unsigned char bytes[4];

		if (*wcs > 0 && *wcs < 0x80) { /* nearly all of it is ASCII */
			if (total < capacity)
				out[total] = (char)*wcs;
			total++;
			continue;
		}
		if (!is_scalar((uint32_t)*wcs))
			return false;
		size_t n = utf8_encode((uint32_t)*wcs, bytes);
		for (size_t i = 0; i < n; i++, total++)
			if (total < capacity)
				out[total] = (char)bytes[i];
	}
	*size = total;
	return true;
}

bool tb5_utf8_to_wcs(const char *utf8, size_t utf8_size, wchar_t *out, size_t capacity,
		     size_t *size)
{
	const unsigned char *p = (const unsigned char *)utf8;
	size_t total = 0;

	while (utf8_size) {
		uint32_t c;
		size_t n = utf8_decode(p, utf8_size, &c);

		if (!n)
			return false;
		if (total < capacity)
			out[total] = (wchar_t)c;
		total++;
		p += n;
		utf8_size -= n;
	}
	*size = total;
	return true;
}

char *tb5_utf8_dup_wcs(const wchar_t *wcs, bool *invalid)
{
	size_t size;

	*invalid = !tb5_utf8_from_wcs(wcs, NULL, 0, &size);
	if (*invalid)
		return NULL;
	char *utf8 = malloc(size + 1);
	if (!utf8)
		return NULL;
	tb5_utf8_from_wcs(wcs, utf8, size, &size);
	utf8[size] = 0;
	return utf8;
}

TBRW_U32 TBRW_convert_utf8_to_wcs(const char *utf8, wchar_t *wcs, TBRW_U32 *wcs_size)
{
	size_t bytes = 0;
	size_t size;

	if (!utf8 || !wcs_size)
		return VT_UNEXPECTED_NULL_PTR;
	while (utf8[bytes])
		bytes++;
	if (!tb5_utf8_to_wcs(utf8, bytes, NULL, 0, &size))
		return VT_INVALID_STRING;
	if (size >= UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	TBRW_U32 capacity = *wcs_size;
	*wcs_size = (TBRW_U32)size + 1;
	if (capacity < size + 1)
		return VT_BUFFER_TOO_SMALL;
	if (!wcs)
		return VT_BUFFER_NULL;
	tb5_utf8_to_wcs(utf8, bytes, wcs, size, &size);
	wcs[size] = 0;
	return VT_SUCCESS;
}

TBRW_U32 TBRW_convert_wcs_to_utf8(const wchar_t *wcs, char *utf8, TBRW_U32 *utf8_size)
{
	size_t size;

	if (!wcs || !utf8_size)
		return VT_UNEXPECTED_NULL_PTR;
	if (!tb5_utf8_from_wcs(wcs, NULL, 0, &size))
		return VT_INVALID_STRING;
	if (size >= UINT32_MAX)
		return VT_BUFFER_OVERFLOW;
	TBRW_U32 capacity = *utf8_size;
	*utf8_size = (TBRW_U32)size + 1;
	if (capacity < size + 1)
		return VT_BUFFER_TOO_SMALL;
	if (!utf8)
		return VT_BUFFER_NULL;
	tb5_utf8_from_wcs(wcs, utf8, size, &size);
	utf8[size] = 0;
	return VT_SUCCESS;
}
