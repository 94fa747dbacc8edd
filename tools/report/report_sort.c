/* Rows in the order that the user asks for. */
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/text/suggest.h"
#include <stdlib.h>

char *report_sort_table(const struct report_options *options, struct table *table, size_t fixed)
{
	const struct report_sort *sort = &options->sort;
	if (!sort->column)
		return NULL;
	size_t column = table_find_column(table, sort->column);
	if (column == SIZE_MAX) {
		const char **titles = table_titles(table);
		char *list = suggest_list(titles);
		char *problem = xalloc_printf("--sort %s: no such column in this table; use %s",
					      sort->column, list);
		free(titles);
		free(list);
		return problem;
	}
	table_sort(table, fixed, column,
		   sort->is_directed ? sort->is_ascending
				     : table_is_text(table->columns[column].kind));
	if (sort->limit > 0 && table->row_count > fixed + sort->limit)
		table->row_count = fixed + sort->limit;
	return NULL;
}

bool report_has_problem(const struct report_input *input)
{
	return input->problem && *input->problem;
}
