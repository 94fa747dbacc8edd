#include "tools/table/table_format.h"

#include <string.h>

static const struct table_format formats[] = {
	{"text", TABLE_FORMAT_TEXT, table_format_text},
	{"csv", TABLE_FORMAT_CSV, table_format_csv},
	{"json", TABLE_FORMAT_JSON, table_format_json},
	{"vtune", TABLE_FORMAT_VTUNE, table_format_vtune},
};

const struct table_format *table_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

const struct table_format *table_format_find(const char *name)
{
	size_t i = 0;
	while (table_format_at(i) && strcmp(table_format_at(i)->name, name) != 0)
		i++;
	return table_format_at(i);
}
