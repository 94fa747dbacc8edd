#include "tools/csv/csv_field.h"

#include <string.h>

bool csv_field_needs_quotes(const char *text)
{
	return strpbrk(text, ",\"\r\n") != NULL;
}

void csv_field_write_inside(const char *text, FILE *stream)
{
	for (; *text; text++) {
		if (*text == '"')
			putc('"', stream);
		putc(*text, stream);
	}
}

void csv_field_write(const char *text, bool is_quoted, FILE *stream)
{
	if (!is_quoted && !csv_field_needs_quotes(text)) {
		fputs(text, stream);
		return;
	}
	putc('"', stream);
	csv_field_write_inside(text, stream);
	putc('"', stream);
}
