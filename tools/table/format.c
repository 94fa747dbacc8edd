#include "tools/table/format.h"

#include <string.h>

static const struct format formats[] = {
	{"text", FORMAT_TEXT, format_text_print},
	{"csv", FORMAT_CSV, format_csv_print},
	{"json", FORMAT_JSON, format_json_print},
};

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}
