#include "tools/csv/csv_field.h"
#include "tools/memory/xalloc.h"
#include "tools/table/table_format.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* -[Class method]: no formula to a spreadsheet. */
static bool is_objective_c_method(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_:() ";
	size_t length = strlen(text);
	return length > 3 && (text[0] == '-' || text[0] == '+') && text[1] == '[' &&
	       text[length - 1] == ']' && strspn(text + 2, letters) == length - 3;
}

/* True for a formula to a spreadsheet, and for a text with a mark already. */
static bool needs_mark(const char *text)
{
	const char *first = text + strspn(text, "'");
	return *first && strchr("=+-@\t\r", *first) && !is_objective_c_method(text);
}

/* Quotes do not keep a spreadsheet from reading a formula; an apostrophe does. */
static void print_text(uint32_t depth, const char *text, FILE *stream)
{
	size_t spaces = strspn(text, " ");
	bool is_marked = needs_mark(text + spaces);
	bool is_quoted = is_marked || csv_field_needs_quotes(text);
	if (is_quoted)
		fputc('"', stream);
	for (uint32_t i = 0; i < depth; i++)
		fputc(' ', stream);
	fwrite(text, 1, spaces, stream);
	if (is_marked)
		fputc('\'', stream);
	csv_field_write_inside(text + spaces, stream);
	if (is_quoted)
		fputc('"', stream);
}

void table_format_csv_field(const char *text, FILE *stream)
{
	print_text(0, text, stream);
}

static void print_cell(const struct table_column *column, const struct table_cell *cell,
		       FILE *stream)
{
	char number[TABLE_NUMBER_SIZE];
	if (table_is_text(column->kind)) {
		if (!cell->is_unknown)
			print_text(cell->depth, cell->text ? cell->text : "", stream);
		return;
	}
	table_number(column->kind, cell, number);
	fputs(number, stream);
}

void table_format_csv(const struct table *table, FILE *stream, unsigned width)
{
	(void)width;
	size_t *order = xalloc_zeroed(table->column_count, sizeof(*order));
	size_t count = table_order(table, TABLE_PLACED, order);
	for (size_t at = 0; at < count; at++) {
		fputs(at ? "," : "", stream);
		table_format_csv_field(table->columns[order[at]].title, stream);
	}
	fputc('\n', stream);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells = table_row(table, row);
		for (size_t at = 0; at < count; at++) {
			fputs(at ? "," : "", stream);
			print_cell(&table->columns[order[at]], &cells[order[at]], stream);
		}
		fputc('\n', stream);
	}
	free(order);
}
