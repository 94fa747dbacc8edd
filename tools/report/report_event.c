/* Tables of results whose samples are of an event that is no clock. */
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdlib.h>
#include <string.h>

/* How the columns of CPU time begin, in titles and in keys. */
#define TIME_TITLE "CPU Time"
#define TIME_KEY   "cpu_time"
#define SHARE_KEY  "cpu_share"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* "CPU Time:Self" and cpu_time_self_s of page-faults: "page-faults:Self" and event_count_self. A
 * column may have no key, or a title of its own ("Total"). */
static void name_count(struct table_column *column, const char *event, char **texts)
{
	bool has_title = begins(column->title, TIME_TITLE);
	bool has_key = begins(column->key, TIME_KEY);
	const char *part = column->key + (has_key ? strlen(TIME_KEY) : 0);
	size_t length = strlen(part);
	bool has_unit = length >= 2 && strcmp(part + length - 2, "_s") == 0;
	texts[0] = xalloc_printf("%s%s", has_title ? event : "",
				 column->title + (has_title ? strlen(TIME_TITLE) : 0));
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

/* The table's columns under the names of the event, until end_names. */
struct names {
	const struct table_column *before;
	struct table_column *columns; /* NULL: CPU time keeps its own */
	char **texts;
	size_t count;
};

static struct names begin_names(const struct report_input *input, struct table *table)
{
	struct names names = {.before = table->columns, .count = table->column_count};
	const char *event = profile_reader_counted_event(input->reader);
	if (!event)
		return names;
	names.columns = xalloc_zeroed(names.count, sizeof(*names.columns));
	names.texts = xalloc_zeroed(2 * names.count, sizeof(*names.texts));
	memcpy(names.columns, names.before, names.count * sizeof(*names.columns));
	for (size_t i = 0; i < names.count; i++) {
		struct table_column *column = &names.columns[i];
		if (begins(column->title, TIME_TITLE) || begins(column->key, TIME_KEY))
			name_count(column, event, &names.texts[2 * i]);
		else if (strcmp(column->key, SHARE_KEY) == 0)
			name_share(column);
	}
	table->columns = names.columns;
	return names;
}

static void end_names(struct names *names, struct table *table)
{
	table->columns = names->before;
	for (size_t i = 0; names->texts && i < 2 * names->count; i++)
		free(names->texts[i]);
	free(names->texts);
	free(names->columns);
}

void report_print_as(const struct report_input *input, struct table *table,
		     const struct table_format *format, FILE *stream, unsigned width)
{
	struct names names = begin_names(input, table);
	char *problem = report_sort_table(input->options, table, 0);
	table->painter = input->painter;
	if (!problem)
		format->print(table, stream, width);
	if (problem && input->problem && !*input->problem)
		*input->problem = problem;
	else
		free(problem);
	end_names(&names, table);
}

size_t report_sort_column(const struct report_input *input, struct table *table)
{
	const char *name = input->options->sort.column;
	struct names names = begin_names(input, table);
	size_t column = name ? table_find_column(table, name) : SIZE_MAX;
	end_names(&names, table);
	return column;
}
