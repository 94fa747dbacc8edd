#include "tools/names/utf8.h"

#include <stddef.h>

/* Length of the well-formed sequence at text, 0 if there is none. The terminating NUL fails every
 * range below, so nothing behind it is read. */
static size_t sequence_length(const unsigned char *text)
{
	unsigned char first = text[0];
	unsigned char low = 0x80;
	unsigned char high = 0xbf;
	size_t length;
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		length = 2;
	else if (first >= 0xe0 && first <= 0xef)
		length = 3;
	else if (first >= 0xf0 && first <= 0xf4)
		length = 4;
	else
		return 0;
	/* no overlong forms, no surrogates, nothing above U+10FFFF */
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	}
	return length;
}

void utf8_replace_invalid(char *text)
{
	while (*text) {
		size_t length = sequence_length((const unsigned char *)text);
		if (length == 0)
			*text = '?';
		text += length ? length : 1;
	}
}
