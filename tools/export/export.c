#include "tools/export/export.h"

#include <string.h>

static const struct export_format formats[] = {
	{"folded", "folded stacks for flame graphs", export_folded_write},
};

const struct export_format *export_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	const struct export_format *format;
	for (size_t i = 0; (format = export_format_at(i)) && strcmp(format->name, name) != 0; i++)
		;
	return format;
}
