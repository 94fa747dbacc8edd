#include "tools/report/format.h"
#include <inttypes.h>
#include <string.h>

void format_csv_print_field(const char *text, FILE *stream)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, stream);
		return;
	}
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

static void print_tree_name(const struct table_cell *cell, FILE *stream)
{
	/* Spaces belong to the field; where it is quoted they stand inside the quotes. */
	bool is_quoted = strpbrk(cell->text, ",\"\r\n") != NULL;
	if (is_quoted)
		fputc('"', stream);
	for (uint32_t i = 0; i < cell->depth; i++)
		fputc(' ', stream);
	for (const char *at = cell->text; *at; at++) {
		if (*at == '"')
			fputc('"', stream);
		fputc(*at, stream);
	}
	if (is_quoted)
		fputc('"', stream);
}

static void print_cell(const struct table_column *column, const struct table_cell *cell,
		       FILE *stream)
{
	if (cell->is_unknown)
		return;
	switch (column->kind) {
	case TABLE_TEXT:
	case TABLE_NAME:
		format_csv_print_field(cell->text ? cell->text : "", stream);
		break;
	case TABLE_TREE:
		print_tree_name(cell, stream);
		break;
	case TABLE_SECONDS:
	case TABLE_SHARE: {
		uint64_t micro =
			column->kind == TABLE_SHARE ? cell->number : (cell->number + 500) / 1000;
		fprintf(stream, "%" PRIu64 ".%06" PRIu64, micro / 1000000, micro % 1000000);
		break;
	}
	case TABLE_COUNT:
		fprintf(stream, "%" PRIu64, cell->number);
		break;
	case TABLE_ADDRESS:
		fprintf(stream, "0x%" PRIx64, cell->number);
		break;
	}
}

void format_csv_print(const struct table *table, FILE *stream, unsigned width)
{
	(void)width;
	const char *separator = "";
	for (size_t i = 0; i < table->column_count; i++) {
		if (!(table->columns[i].formats & TABLE_IN_CSV))
			continue;
		fputs(separator, stream);
		format_csv_print_field(table->columns[i].title, stream);
		separator = ",";
	}
	fputc('\n', stream);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells = table_row(table, row);
		separator = "";
		for (size_t i = 0; i < table->column_count; i++) {
			if (!(table->columns[i].formats & TABLE_IN_CSV))
				continue;
			fputs(separator, stream);
			print_cell(&table->columns[i], &cells[i], stream);
			separator = ",";
		}
		fputc('\n', stream);
	}
}
