#include "tools/code/cost_rows.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>

void cost_rows_begin(struct cost_rows *rows, const struct report_input *input,
		     const struct table_column *columns, size_t column_count)
{
	*rows = (struct cost_rows){.input = input};
	table_init(&rows->table, columns, column_count);
}

void cost_rows_finish(struct cost_rows *rows)
{
	for (size_t i = 0; i < rows->text_count; i++)
		free(rows->texts[i]);
	free(rows->texts);
	table_finish(&rows->table);
}

struct table_cell *cost_rows_add(struct cost_rows *rows)
{
	struct table_cell *row = table_add_row(&rows->table);
	for (size_t i = 0; i < COST_ROWS_COLUMNS; i++)
		row[i].is_unknown = true;
	return row;
}

void cost_rows_set(const struct cost_rows *rows, const struct draws_part *all,
		   const struct place_cost *cost, struct table_cell *row)
{
	uint64_t all_ns = all->cpu_ns + rows->input->tally.rest_ns;
	for (size_t i = 0; i < COST_ROWS_COLUMNS; i++)
		row[i].is_unknown = false;
	row[COST_ROWS_SELF].number = cost->self.cpu_ns;
	row[COST_ROWS_SHARE].number = table_share(cost->self.cpu_ns, all_ns);
	report_set_error(&row[COST_ROWS_ERROR], &cost->self, &all->draws, all_ns);
	row[COST_ROWS_TOTAL].number = cost->total.cpu_ns;
	row[COST_ROWS_SAMPLES].number = cost->total.samples;
}

const char *cost_rows_keep(struct cost_rows *rows, char *text)
{
	xalloc_room(&rows->texts, &rows->text_capacity, rows->text_count + 1, sizeof(*rows->texts));
	rows->texts[rows->text_count++] = text;
	return text;
}

void cost_rows_print(struct cost_rows *rows, FILE *stream, unsigned width)
{
	report_print_as(rows->input, &rows->table, rows->input->options->format, stream, width);
}
