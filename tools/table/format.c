#include "tools/table/format.h"

#include <string.h>

static const struct format formats[] = {
	{"text", FORMAT_TEXT, format_text_print},
	{"csv", FORMAT_CSV, format_csv_print},
	{"json", FORMAT_JSON, format_json_print},
};

const struct format *format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

const struct format *format_find(const char *name)
{
	size_t i = 0;
	while (format_at(i) && strcmp(format_at(i)->name, name) != 0)
		i++;
	return format_at(i);
}
