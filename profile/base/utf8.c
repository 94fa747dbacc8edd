#include "profile/base/utf8.h"

#include <stdbool.h>

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xC0u) == 0x80u;
}

/* Length of the sequence that a lead byte announces, 0 for no lead byte. low and high bound the
 * second byte: that is where overlong forms, surrogates and values over U+10FFFF show. */
static size_t sequence_length(unsigned char lead, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xBF;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF) {
		if (lead == 0xE0)
			*low = 0xA0;
		if (lead == 0xED)
			*high = 0x9F;
		return 3;
	}
	if (lead >= 0xF0 && lead <= 0xF4) {
		if (lead == 0xF0)
			*low = 0x90;
		if (lead == 0xF4)
			*high = 0x8F;
		return 4;
	}
	return 0;
}

size_t profile_utf8_decode(const char *s, size_t size, uint32_t *code_point)
{
	unsigned char lead = (unsigned char)s[0];
	unsigned char low, high;

	if (lead < 0x80) {
		*code_point = lead;
		return 1;
	}
	*code_point = PROFILE_UTF8_REPLACEMENT;
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

size_t profile_utf8_encode(uint32_t code_point, char out[4])
{
	if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF))
		code_point = PROFILE_UTF8_REPLACEMENT;
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	if (code_point < 0x800) {
		out[0] = (char)(0xC0 | code_point >> 6);
		out[1] = (char)(0x80 | (code_point & 0x3F));
		return 2;
	}
	if (code_point < 0x10000) {
		out[0] = (char)(0xE0 | code_point >> 12);
		out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code_point & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code_point >> 18);
	out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code_point & 0x3F));
	return 4;
}

size_t profile_utf8_clean(const char *s, size_t size, char *out)
{
	size_t length = 0;

	for (size_t at = 0; at < size;) {
		uint32_t code_point;
		char encoded[4];
		at += profile_utf8_decode(s + at, size - at, &code_point);
		if (code_point == 0)
			code_point = PROFILE_UTF8_REPLACEMENT;
		size_t n = profile_utf8_encode(code_point, encoded);
		for (size_t i = 0; out && i < n; i++)
			out[length + i] = encoded[i];
		length += n;
	}
	return length;
}

size_t profile_utf8_to_wide(const char *s, size_t size, wchar_t *out)
{
	size_t length = 0;

	/* Nearly all of it is ASCII. */
	while (length < size && s[length] > 0) {
		out[length] = (wchar_t)s[length];
		length++;
	}
	for (size_t at = length; at < size;) {
		uint32_t code_point;
		at += profile_utf8_decode(s + at, size - at, &code_point);
		out[length++] = (wchar_t)(code_point ? code_point : PROFILE_UTF8_REPLACEMENT);
	}
	out[length] = L'\0';
	return length;
}

size_t profile_utf8_cut(const char *s, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	while (limit > 0 && is_continuation((unsigned char)s[limit]))
		limit--;
	return limit;
}
