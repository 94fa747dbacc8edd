#include "tools/terminal/terminal.h"

#include "profile/base/visible.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *terminal_text(const char *text)
{
	char *shown = xalloc_zeroed(strlen(text) + 1, PROFILE_VISIBLE_FACTOR);
	profile_visible_text(text, shown);
	return shown;
}

/* Whether the bytes may be the beginning of a longer UTF-8 sequence. */
static bool is_cut(const char *bytes, size_t size)
{
	unsigned char lead = (unsigned char)bytes[0];
	size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
	if (lead > 0xf4 || size >= length)
		return false;
	for (size_t i = 1; i < size; i++)
		if (((unsigned char)bytes[i] & 0xc0) != 0x80)
			return false;
	return true;
}

static void hold_bytes(struct terminal_filter *filter, const char *bytes, size_t size)
{
	assert(size <= sizeof(filter->held));
	memcpy(filter->held, bytes, size);
	filter->held_size = size;
}

char *terminal_filter_piece(struct terminal_filter *filter, const char *bytes, size_t size,
			    size_t *shown_size)
{
	size_t all = filter->held_size + (bytes ? size : 0);
	char *text = xalloc_zeroed(all + 1, 1);
	char *shown = xalloc_zeroed(all + 1, PROFILE_VISIBLE_FACTOR);
	memcpy(text, filter->held, filter->held_size);
	if (bytes)
		memcpy(text + filter->held_size, bytes, size);
	filter->held_size = 0;
	*shown_size = 0;
	for (size_t at = 0; at < all;) {
		size_t length = 1;
		if (bytes && is_cut(text + at, all - at)) {
			hold_bytes(filter, text + at, all - at);
			break;
		}
		if (text[at] == '\n' || text[at] == '\t')
			shown[*shown_size] = text[at++];
		else
			at += profile_visible_next(text + at, all - at, shown + *shown_size,
						   &length);
		*shown_size += length;
	}
	free(text);
	return shown;
}

void terminal_paint(const struct terminal_painter *painter, enum terminal_colour colour)
{
	if (painter)
		painter->set(painter->user, colour);
}

const char *terminal_colour_code(enum terminal_colour colour)
{
	static const char *const codes[] = {
		[TERMINAL_PLAIN] = "\x1b[m",
		[TERMINAL_BOLD] = "\x1b[1m",
		[TERMINAL_RED] = "\x1b[31m",
		[TERMINAL_GREEN] = "\x1b[32m",
	};
	return codes[colour];
}
