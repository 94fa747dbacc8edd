#include "profile/base/visible.h"

#include "tbrw/utf8.h"
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t first;
	uint32_t last;
} unseen[] = {
	/* in order */
	{0x0000, 0x001f},   {0x007f, 0x009f},   {0x0600, 0x0605},   {0x061c, 0x061c},
	{0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},   {0x08e2, 0x08e2},
	{0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
	{0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
	{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
};

static bool is_unseen(uint32_t code_point)
{
	size_t i = 0;
	while (i < sizeof(unseen) / sizeof(unseen[0]) && code_point > unseen[i].last)
		i++;
	return i < sizeof(unseen) / sizeof(unseen[0]) && code_point >= unseen[i].first;
}

size_t profile_visible_next(const char *s, size_t size, char out[PROFILE_VISIBLE_MAX],
			    size_t *length)
{
	char text[PROFILE_VISIBLE_MAX + 1];
	uint32_t code_point;
	size_t used = tb5_utf8_decode(s, size, &code_point);
	if (code_point == TB5_UTF8_ILL_FORMED) {
		used = 1;
		code_point = (unsigned char)s[0];
	} else if (!is_unseen(code_point)) {
		memcpy(out, s, used);
		*length = used;
		return used;
	}
	*length = (size_t)snprintf(text, sizeof(text),
				   used == 1              ? "\\x%02x"
				   : code_point < 0x10000 ? "\\u%04x"
							  : "\\U%08x",
				   code_point);
	assert(*length <= PROFILE_VISIBLE_MAX && *length <= used * PROFILE_VISIBLE_FACTOR);
	memcpy(out, text, *length);
	return used;
}

void profile_visible_text(const char *text, char *out)
{
	size_t size = strlen(text);
	for (size_t at = 0; at < size;) {
		char shown[PROFILE_VISIBLE_MAX];
		size_t length;
		at += profile_visible_next(text + at, size - at, shown, &length);
		memcpy(out, shown, length);
		out += length;
	}
	*out = '\0';
}
