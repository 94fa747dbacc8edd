#include "tools/table/format.h"
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* -[Class method], which no spreadsheet takes for a formula. */
static bool is_objective_c_method(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_:() ";
	size_t length = strlen(text);
	return length > 3 && (text[0] == '-' || text[0] == '+') && text[1] == '[' &&
	       text[length - 1] == ']' && strspn(text + 2, letters) == length - 3;
}

/* What a spreadsheet would take for a formula, and what is marked already. */
static bool needs_mark(const char *text)
{
	const char *first = text + strspn(text, "'");
	return *first && strchr("=+-@\t\r", *first) && !is_objective_c_method(text);
}

/* A text in quotes is a formula to a spreadsheet all the same; behind an apostrophe it is none. */
static void print_text(uint32_t depth, const char *text, FILE *stream)
{
	size_t spaces = strspn(text, " ");
	bool is_marked = needs_mark(text + spaces);
	bool is_quoted = is_marked || strpbrk(text, ",\"\r\n");
	if (is_quoted)
		fputc('"', stream);
	for (uint32_t i = 0; i < depth; i++)
		fputc(' ', stream);
	fwrite(text, 1, spaces, stream);
	if (is_marked)
		fputc('\'', stream);
	for (text += spaces; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	if (is_quoted)
		fputc('"', stream);
}

void format_csv_print_field(const char *text, FILE *stream)
{
	print_text(0, text, stream);
}

static void print_cell(const struct table_column *column, const struct table_cell *cell,
		       FILE *stream)
{
	if (cell->is_unknown)
		return;
	switch (column->kind) {
	case TABLE_TEXT:
	case TABLE_NAME:
	case TABLE_TREE:
		print_text(cell->depth, cell->text ? cell->text : "", stream);
		break;
	case TABLE_SECONDS:
	case TABLE_SHARE: {
		uint64_t micro =
			column->kind == TABLE_SHARE ? cell->number : (cell->number + 500) / 1000;
		fprintf(stream, "%" PRIu64 ".%06" PRIu64, micro / 1000000, micro % 1000000);
		break;
	}
	case TABLE_ERROR:
		fprintf(stream, "%" PRIu64 ".%04" PRIu64, cell->number / 10000,
			cell->number % 10000);
		break;
	case TABLE_COUNT:
	case TABLE_ID:
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
