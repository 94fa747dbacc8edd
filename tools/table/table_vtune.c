/* CSV as VTune's reports have it, for what reads those by lines: the spaces of a depth stand before
 * the quotes, no text is empty, none goes over a line. */
#include "tools/csv/csv_field.h"
#include "tools/memory/xalloc.h"
#include "tools/table/table_format.h"
#include <stdlib.h>
#include <string.h>

static void print_text(uint32_t depth, const char *text, FILE *stream)
{
	for (uint32_t i = 0; i < depth; i++)
		putc(' ', stream);
	char *line = xalloc_text(text + strspn(text, " ")); /* a depth to readers */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	csv_field_write(line, false, stream);
	free(line);
}

static void print_cell(const struct table_column *column, const struct table_cell *cell,
		       FILE *stream)
{
	char number[TABLE_NUMBER_SIZE];
	if (table_is_text(column->kind)) {
		bool is_known = !cell->is_unknown && cell->text && cell->text[0];
		print_text(cell->depth, is_known ? cell->text : "[Unknown]", stream);
		return;
	}
	table_number(column->kind, cell, number);
	fputs(number, stream);
}

void table_format_vtune(const struct table *table, FILE *stream, unsigned width)
{
	(void)width;
	size_t *order = xalloc_zeroed(table->column_count, sizeof(*order));
	size_t all = table_order(table, TABLE_PLACED, order);
	size_t count = 0;
	for (size_t at = 0; at < all; at++)
		if (!(table->columns[order[at]].audience & (TABLE_LATER | TABLE_OURS)))
			order[count++] = order[at];
	for (size_t at = 0; at < count; at++) {
		fputs(at ? "," : "", stream);
		print_text(0, table->columns[order[at]].title, stream);
	}
	putc('\n', stream);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells = table_row(table, row);
		for (size_t at = 0; at < count; at++) {
			fputs(at ? "," : "", stream);
			print_cell(&table->columns[order[at]], &cells[order[at]], stream);
		}
		putc('\n', stream);
	}
	free(order);
}
