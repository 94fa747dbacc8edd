#include "tools/page/page_base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Of one to three bytes. */
static void write_group(const uint8_t *bytes, size_t size, char *text)
{
	uint8_t group[3] = {0};
	memcpy(group, bytes, size);
	uint32_t bits = (uint32_t)group[0] << 16 | (uint32_t)group[1] << 8 | group[2];
	text[0] = digits[bits >> 18];
	text[1] = digits[bits >> 12 & 63];
	text[2] = size > 1 ? digits[bits >> 6 & 63] : '=';
	text[3] = size > 2 ? digits[bits & 63] : '=';
}

void page_base64_write(const uint8_t *bytes, size_t size, FILE *stream)
{
	char text[4096];
	size_t used = 0;
	for (size_t at = 0; at < size; at += 3) {
		write_group(bytes + at, size - at < 3 ? size - at : 3, text + used);
		used += 4;
		if (used == sizeof(text)) {
			fwrite(text, 1, used, stream);
			used = 0;
		}
	}
	fwrite(text, 1, used, stream);
}
