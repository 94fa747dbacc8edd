#include "tools/report/format.h"
#include "tools/terminal.h"
#include "tools/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GAP            2u  /* spaces between columns */
#define NAME_WIDTH_MIN 12u /* narrower than this a name says nothing */
#define NUMBER_SIZE    40u

static const char ellipsis[] = "...";

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t format_text_columns(const char *text)
{
	size_t columns = 0;
	for (; *text; text++)
		columns += !is_continuation(*text);
	return columns;
}

/* Byte offset of code point number `columns`. */
static size_t offset_of(const char *text, size_t columns)
{
	size_t at = 0;
	while (text[at] && columns > 0) {
		at++;
		while (is_continuation(text[at]))
			at++;
		columns--;
	}
	return at;
}

char *format_text_fit(const char *text, size_t width)
{
	char *clean = terminal_text(text);
	size_t columns = format_text_columns(clean);
	size_t mark = sizeof(ellipsis) - 1;
	if (width == 0 || columns <= width)
		return clean;
	if (width <= mark) {
		clean[offset_of(clean, width)] = '\0';
		return clean;
	}
	size_t head = (width - mark + 1) / 2;
	size_t tail = width - mark - head;
	char *fitted = xalloc_printf("%.*s%s%s", (int)offset_of(clean, head), clean, ellipsis,
				     clean + offset_of(clean, columns - tail));
	free(clean);
	return fitted;
}

static bool is_text(enum table_kind kind)
{
	return kind == TABLE_TEXT || kind == TABLE_NAME || kind == TABLE_TREE;
}

static void print_number(enum table_kind kind, const struct table_cell *cell,
			 char number[NUMBER_SIZE])
{
	number[0] = '\0';
	if (cell->is_unknown)
		return;
	switch (kind) {
	case TABLE_SECONDS:
		snprintf(number, NUMBER_SIZE, "%.3f s", (double)cell->number / 1e9);
		break;
	case TABLE_SHARE:
		snprintf(number, NUMBER_SIZE, "%.1f %%", (double)cell->number / 1e4);
		break;
	case TABLE_COUNT:
		snprintf(number, NUMBER_SIZE, "%" PRIu64, cell->number);
		break;
	default:
		snprintf(number, NUMBER_SIZE, "0x%" PRIx64, cell->number);
		break;
	}
}

static size_t cell_columns(const struct table_column *column, const struct table_cell *cell)
{
	if (is_text(column->kind)) {
		const char *text = cell->text ? cell->text : "";
		return format_text_columns(text) + cell->depth;
	}
	char number[NUMBER_SIZE];
	print_number(column->kind, cell, number);
	return strlen(number);
}

/* What the terminal has no room for has no width; everything else has a title at least. */
static bool is_shown(const struct table *table, const size_t *widths, size_t column)
{
	return (table->columns[column].formats & TABLE_IN_TEXT) && widths[column] > 0;
}

static size_t total_width(const struct table *table, const size_t *widths)
{
	size_t total = 0;
	for (size_t i = 0; i < table->column_count; i++) {
		if (is_shown(table, widths, i))
			total += widths[i] + (total ? GAP : 0);
	}
	return total;
}

static void drop_optional(const struct table *table, size_t *widths, size_t width)
{
	for (size_t i = table->column_count; i-- > 0 && total_width(table, widths) > width;) {
		if (table->columns[i].formats & TABLE_OPTIONAL)
			widths[i] = 0;
	}
}

/* Takes from the widest name column until all fits, or nothing more can be taken. */
static void shrink(const struct table *table, size_t *widths, size_t width)
{
	for (size_t total = total_width(table, widths); total > width;) {
		size_t widest = table->column_count;
		size_t second = NAME_WIDTH_MIN;
		for (size_t i = 0; i < table->column_count; i++) {
			if (!is_shown(table, widths, i) || !is_text(table->columns[i].kind) ||
			    widths[i] <= NAME_WIDTH_MIN)
				continue;
			if (widest == table->column_count || widths[i] > widths[widest]) {
				if (widest != table->column_count)
					second = widths[widest];
				widest = i;
			} else if (widths[i] > second) {
				second = widths[i];
			}
		}
		if (widest == table->column_count)
			return;
		size_t excess = total - width;
		size_t spare = widths[widest] > second ? widths[widest] - second : 1;
		size_t taken = excess < spare ? excess : spare;
		widths[widest] -= taken;
		total -= taken;
	}
}

static size_t *measure(const struct table *table, unsigned width)
{
	size_t *widths = xalloc_zeroed(table->column_count, sizeof(*widths));
	for (size_t i = 0; i < table->column_count; i++) {
		widths[i] = format_text_columns(table->columns[i].title);
		for (size_t row = 0; row < table->row_count; row++) {
			size_t columns =
				cell_columns(&table->columns[i], &table_row(table, row)[i]);
			if (columns > widths[i])
				widths[i] = columns;
		}
	}
	if (width > 0) {
		drop_optional(table, widths, width);
		shrink(table, widths, width);
	}
	return widths;
}

static void print_spaces(size_t count, FILE *stream)
{
	while (count-- > 0)
		fputc(' ', stream);
}

/* Indentation that leaves no room for the name is shown as a number. */
static char *text_of_cell(const struct table_cell *cell, size_t width)
{
	const char *text = cell->text ? cell->text : "";
	if (cell->depth == 0)
		return format_text_fit(text, width);
	size_t indent = cell->depth;
	char level[24] = "";
	if (indent + NAME_WIDTH_MIN > width && indent + format_text_columns(text) > width) {
		snprintf(level, sizeof(level), "%" PRIu32 "> ", cell->depth);
		indent = 0;
	}
	size_t used = indent + strlen(level);
	char *fitted = format_text_fit(text, width > used ? width - used : 1);
	char *whole = xalloc_printf("%*s%s%s", (int)indent, "", level, fitted);
	free(fitted);
	return whole;
}

static void print_field(const struct table_column *column, const char *text, size_t width,
			bool is_last, FILE *stream)
{
	size_t columns = format_text_columns(text);
	size_t padding = columns < width ? width - columns : 0;
	if (!is_text(column->kind))
		print_spaces(padding, stream);
	fputs(text, stream);
	if (is_text(column->kind) && !is_last)
		print_spaces(padding, stream);
}

static void print_line(const struct table *table, const struct table_cell *cells,
		       const size_t *widths, size_t last, FILE *stream)
{
	for (size_t i = 0; i <= last; i++) {
		const struct table_column *column = &table->columns[i];
		if (!is_shown(table, widths, i))
			continue;
		if (!cells) {
			char *title = format_text_fit(column->title, widths[i]);
			print_field(column, title, widths[i], i == last, stream);
			free(title);
		} else if (is_text(column->kind)) {
			char *text = text_of_cell(&cells[i], widths[i]);
			print_field(column, text, widths[i], i == last, stream);
			free(text);
		} else {
			char number[NUMBER_SIZE];
			print_number(column->kind, &cells[i], number);
			print_field(column, number, widths[i], i == last, stream);
		}
		if (i < last)
			print_spaces(GAP, stream);
	}
	fputc('\n', stream);
}

void format_text_print(const struct table *table, FILE *stream, unsigned width)
{
	size_t *widths = measure(table, width);
	size_t last = 0;
	for (size_t i = 0; i < table->column_count; i++) {
		if (is_shown(table, widths, i))
			last = i;
	}
	print_line(table, NULL, widths, last, stream);
	for (size_t row = 0; row < table->row_count; row++)
		print_line(table, table_row(table, row), widths, last, stream);
	free(widths);
}
