/* Tables of results whose samples are of an event that is no clock. */
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdlib.h>
#include <string.h>

/* How the columns of CPU time begin, in titles and in keys. */
#define TIME_TITLE "CPU Time"
#define TIME_KEY   "cpu_time"
#define SHARE_KEY  "cpu_share"

/* "CPU Time:Self" and cpu_time_self_s of page-faults: "page-faults:Self" and event_count_self. A
 * column may have no key. */
static void name_count(struct table_column *column, const char *event, char **texts)
{
	bool has_key = strncmp(column->key, TIME_KEY, strlen(TIME_KEY)) == 0;
	const char *part = column->key + (has_key ? strlen(TIME_KEY) : 0);
	size_t length = strlen(part);
	bool has_unit = length >= 2 && strcmp(part + length - 2, "_s") == 0;
	texts[0] = xalloc_printf("%s%s", event, column->title + strlen(TIME_TITLE));
	texts[1] = xalloc_printf("%s%.*s", has_key ? "event_count" : "",
				 (int)(has_unit ? length - 2 : length), part);
	column->title = texts[0];
	column->key = texts[1];
	column->kind = TABLE_COUNT;
}

static void name_share(struct table_column *column)
{
	column->title = "Share";
	column->key = "event_share";
}

void report_print_as(const struct report_input *input, struct table *table,
		     const struct table_format *format, FILE *stream, unsigned width)
{
	const struct table_column *before = table->columns;
	const char *event = profile_reader_counted_event(input->reader);
	size_t count = table->column_count;
	if (!event) {
		format->print(table, stream, width);
		return;
	}
	struct table_column *columns = xalloc_zeroed(count, sizeof(*columns));
	char **texts = xalloc_zeroed(2 * count, sizeof(*texts));
	memcpy(columns, before, count * sizeof(*columns));
	for (size_t i = 0; i < count; i++) {
		if (strncmp(columns[i].title, TIME_TITLE, strlen(TIME_TITLE)) == 0)
			name_count(&columns[i], event, &texts[2 * i]);
		else if (strcmp(columns[i].key, SHARE_KEY) == 0)
			name_share(&columns[i]);
	}
	table->columns = columns;
	format->print(table, stream, width);
	table->columns = before;
	for (size_t i = 0; i < 2 * count; i++)
		free(texts[i]);
	free(texts);
	free(columns);
}
