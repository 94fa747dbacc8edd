#include "tools/memory/xalloc.h"
#include "tools/table/table_format.h"
#include "tools/table/tree_lines.h"
#include "tools/terminal/terminal.h"
#include <assert.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define GAP            2u  /* spaces between columns */
#define NAME_WIDTH_MIN 12u /* narrower than this a name says nothing */
#define PATH_WIDTH_MIN 24u
#define TEXT_WIDTH_MIN 16u /* most names of modules */

static const char ellipsis[] = "...";

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Columns of the character at text: 2 of a wide one, 0 of one that combines with the character
 * before; 1 of one unknown to the locale. *length: its bytes. */
static size_t character_columns(const char *text, size_t *length)
{
	mbstate_t state = {0};
	wchar_t wide;
	*length = 1;
	while (is_continuation(text[*length]))
		++*length;
	int columns = mbrtowc(&wide, text, *length, &state) == *length ? wcwidth(wide) : 1;
	return columns < 0 ? 1 : (size_t)columns;
}

static size_t count_columns(const char *clean)
{
	size_t columns = 0;
	size_t length;
	for (; *clean; clean += length)
		columns += character_columns(clean, &length);
	return columns;
}

size_t table_format_columns(const char *text)
{
	char *clean = terminal_text(text);
	size_t columns = count_columns(clean);
	free(clean);
	return columns;
}

/* Bytes of the first characters, `columns` columns in all. A wide character across the border is in
 * only if is_covered. */
static size_t offset_of(const char *clean, size_t columns, bool is_covered)
{
	size_t at = 0;
	size_t used = 0;
	while (clean[at] && used < columns) {
		size_t length;
		used += character_columns(clean + at, &length);
		if (used > columns && !is_covered)
			break;
		at += length;
	}
	return at;
}

char *table_format_fit(const char *text, size_t width)
{
	char *clean = terminal_text(text);
	size_t columns = count_columns(clean);
	size_t mark = sizeof(ellipsis) - 1;
	if (width == 0 || columns <= width)
		return clean;
	if (width <= mark) {
		clean[offset_of(clean, width, false)] = '\0';
		return clean;
	}
	size_t head = (width - mark + 1) / 2;
	size_t tail = width - mark - head;
	char *fitted = xalloc_printf("%.*s%s%s", (int)offset_of(clean, head, false), clean,
				     ellipsis, clean + offset_of(clean, columns - tail, true));
	free(clean);
	return fitted;
}

/* The first columns of a text. */
static char *cut_text(const char *text, size_t width)
{
	char *clean = terminal_text(text);
	clean[offset_of(clean, width, false)] = '\0';
	return clean;
}

static const char *text_of(const struct table_cell *cell)
{
	return cell->text ? cell->text : "";
}

static void print_duration(uint64_t ns, char number[TABLE_NUMBER_SIZE])
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ns < units[i].ns)
			continue;
		snprintf(number, TABLE_NUMBER_SIZE, "%.3f %s", (double)ns / (double)units[i].ns,
			 units[i].name);
		return;
	}
	snprintf(number, TABLE_NUMBER_SIZE, "%u ns", (unsigned)ns);
}

static void print_number(enum table_kind kind, const struct table_cell *cell,
			 char number[TABLE_NUMBER_SIZE])
{
	number[0] = '\0';
	if (cell->is_unknown)
		return;
	switch (kind) {
	case TABLE_SECONDS:
		snprintf(number, TABLE_NUMBER_SIZE, "%.3f s", (double)cell->number / 1e9);
		break;
	case TABLE_SHARE:
		snprintf(number, TABLE_NUMBER_SIZE, "%.1f %%", (double)cell->number / 1e4);
		break;
	case TABLE_DIFFERENCE:
		snprintf(number, TABLE_NUMBER_SIZE, "%+.3f s", (double)(int64_t)cell->number / 1e9);
		break;
	case TABLE_CHANGE:
		snprintf(number, TABLE_NUMBER_SIZE, "%+.1f %%",
			 (double)(int64_t)cell->number / 1e4);
		break;
	case TABLE_REAL:
		table_number(kind, cell, number);
		snprintf(number, TABLE_NUMBER_SIZE, "%.6g", strtod(number, NULL));
		break;
	case TABLE_DURATION:
		print_duration(cell->number, number);
		break;
	case TABLE_ERROR:
		snprintf(number, TABLE_NUMBER_SIZE, "%s%.1f", text_of(cell),
			 (double)cell->number / 1e4);
		break;
	default:
		table_number(kind, cell, number);
		break;
	}
}

static size_t cell_columns(const struct table_column *column, const struct table_cell *cell)
{
	if (table_is_text(column->kind))
		return table_format_columns(text_of(cell)) + tree_lines_width(cell->depth);
	char number[TABLE_NUMBER_SIZE];
	print_number(column->kind, cell, number);
	return strlen(number);
}

/* Columns from left to right. */
struct layout {
	size_t count;   /* of the columns shown */
	size_t *order;  /* ... of the table's columns */
	size_t *widths; /* of each column of the table */
};

/* Figures first: they stay below each other whatever the names. Names of any length come last. */
static unsigned place_of(enum table_kind kind)
{
	switch (kind) {
	case TABLE_ID:
	case TABLE_ADDRESS:
		return 1;
	case TABLE_TEXT:
		return 2;
	case TABLE_NAME:
	case TABLE_CODE:
	case TABLE_TREE:
		return 3;
	default:
		return 0;
	}
}

static const char *title_of(const struct table_column *column)
{
	return column->kind == TABLE_ERROR ? "+-" : column->title;
}

/* A column of errors without any says nothing. */
static bool is_empty(const struct table *table, size_t column)
{
	bool is_empty = table->columns[column].kind == TABLE_ERROR;
	for (size_t row = 0; is_empty && row < table->row_count; row++)
		is_empty = table_row(table, row)[column].is_unknown;
	return is_empty;
}

static void measure_columns(const struct table *table, struct layout *layout)
{
	size_t *shown = xalloc_zeroed(table->column_count, sizeof(*shown));
	size_t count = table_order(table, TABLE_SHOWN, shown);
	for (unsigned place = 0; place <= 3; place++) {
		for (size_t at = 0; at < count; at++)
			if (place_of(table->columns[shown[at]].kind) == place &&
			    !is_empty(table, shown[at]))
				layout->order[layout->count++] = shown[at];
	}
	free(shown);
	for (size_t at = 0; at < layout->count; at++) {
		size_t i = layout->order[at];
		size_t widest = table_format_columns(title_of(&table->columns[i]));
		for (size_t row = 0; row < table->row_count; row++) {
			size_t columns =
				cell_columns(&table->columns[i], &table_row(table, row)[i]);
			widest = columns > widest ? columns : widest;
		}
		layout->widths[i] = widest;
	}
}

static size_t total_width(const struct layout *layout)
{
	size_t total = 0;
	for (size_t at = 0; at < layout->count; at++)
		total += layout->widths[layout->order[at]] + (at ? GAP : 0);
	return total;
}

/* The width after all cuts: a path is cut to keep any column, other names only to keep a figure. */
static size_t least_width(const struct table *table, const struct layout *layout, bool for_figure)
{
	size_t total = total_width(layout);
	for (size_t at = 0; at < layout->count; at++) {
		const struct table_column *column = &table->columns[layout->order[at]];
		size_t width = layout->widths[layout->order[at]];
		size_t least = width;
		if ((column->audience & TABLE_OPTIONAL) && column->kind == TABLE_NAME)
			least = PATH_WIDTH_MIN;
		else if (for_figure && table_is_text(column->kind))
			least = TEXT_WIDTH_MIN;
		total -= width > least ? width - least : 0;
	}
	return total;
}

/* The table's last one first. */
static void drop_optional(const struct table *table, struct layout *layout, size_t width)
{
	for (size_t i = table->column_count; i-- > 0;) {
		size_t kept = 0;
		if (!(table->columns[i].audience & TABLE_OPTIONAL) ||
		    least_width(table, layout, !table_is_text(table->columns[i].kind)) <= width)
			continue;
		for (size_t at = 0; at < layout->count; at++)
			if (layout->order[at] != i)
				layout->order[kept++] = layout->order[at];
		layout->count = kept;
	}
}

/* Names of modules and other short texts give way before names of functions. */
static void shrink_texts(const struct table *table, struct layout *layout, size_t width)
{
	size_t total = total_width(layout);
	for (size_t at = 0; at < layout->count && total > width; at++) {
		size_t *own = &layout->widths[layout->order[at]];
		if (table->columns[layout->order[at]].kind != TABLE_TEXT || *own <= TEXT_WIDTH_MIN)
			continue;
		size_t spare = *own - TEXT_WIDTH_MIN;
		size_t taken = total - width < spare ? total - width : spare;
		*own -= taken;
		total -= taken;
	}
}

/* The widest column of names, table->column_count if none is wider than the least; *second: the
 * width of the next one. */
static size_t find_widest(const struct table *table, const struct layout *layout, size_t *second)
{
	size_t widest = table->column_count;
	*second = NAME_WIDTH_MIN;
	for (size_t at = 0; at < layout->count; at++) {
		size_t i = layout->order[at];
		if (!table_is_text(table->columns[i].kind) || layout->widths[i] <= NAME_WIDTH_MIN)
			continue;
		if (widest == table->column_count || layout->widths[i] > layout->widths[widest]) {
			if (widest != table->column_count)
				*second = layout->widths[widest];
			widest = i;
		} else if (layout->widths[i] > *second) {
			*second = layout->widths[i];
		}
	}
	return widest;
}

/* Takes from the widest name column until all fits, or nothing more can be taken. */
static void shrink_names(const struct table *table, struct layout *layout, size_t width)
{
	for (size_t total = total_width(layout); total > width;) {
		size_t second;
		size_t widest = find_widest(table, layout, &second);
		if (widest == table->column_count)
			return;
		size_t excess = total - width;
		size_t spare =
			layout->widths[widest] > second ? layout->widths[widest] - second : 1;
		size_t taken = excess < spare ? excess : spare;
		assert(taken > 0 && taken <= layout->widths[widest]); /* else no end */
		layout->widths[widest] -= taken;
		total -= taken;
	}
}

static void print_spaces(size_t count, FILE *stream)
{
	while (count-- > 0)
		fputc(' ', stream);
}

/* A name behind its tree lines; lines without room for the name become a number. */
static char *text_in_tree(struct tree_lines *lines, size_t row, const struct table_cell *cell,
			  size_t width)
{
	const char *text = text_of(cell);
	char *before = tree_lines_draw(lines, row, cell->depth);
	size_t used = tree_lines_width(cell->depth);
	if (used + NAME_WIDTH_MIN > width && used + table_format_columns(text) > width) {
		free(before);
		before = xalloc_printf("%" PRIu32 "> ", cell->depth);
		used = strlen(before);
	}
	char *fitted = table_format_fit(text, width > used ? width - used : 1);
	char *whole = xalloc_printf("%s%s", before, fitted);
	free(before);
	free(fitted);
	return whole;
}

static void print_field(const struct table_column *column, const char *text, size_t width,
			bool is_last, FILE *stream)
{
	size_t columns = table_format_columns(text);
	size_t padding = columns < width ? width - columns : 0;
	if (!table_is_text(column->kind))
		print_spaces(padding, stream);
	fputs(text, stream);
	if (!is_last && table_is_text(column->kind))
		print_spaces(padding, stream);
	if (!is_last)
		print_spaces(GAP, stream);
}

/* Shares as perf report colours them (tools/perf/util/color.h: red from 5 % on, green from 0.5 %).
 */
static enum terminal_colour colour_of(enum table_kind kind, const struct table_cell *cell)
{
	if (kind != TABLE_SHARE || cell->is_unknown || cell->number < 5000)
		return TERMINAL_PLAIN;
	return cell->number < 50000 ? TERMINAL_GREEN : TERMINAL_RED;
}

static void print_titles(const struct table *table, const struct layout *layout, FILE *stream)
{
	terminal_paint(table->painter, TERMINAL_BOLD);
	for (size_t at = 0; at < layout->count; at++) {
		size_t i = layout->order[at];
		char *title = table_format_fit(title_of(&table->columns[i]), layout->widths[i]);
		print_field(&table->columns[i], title, layout->widths[i], at + 1 == layout->count,
			    stream);
		free(title);
	}
	terminal_paint(table->painter, TERMINAL_PLAIN);
	fputc('\n', stream);
}

static void print_row(const struct table *table, const struct layout *layout,
		      struct tree_lines *lines, size_t row, FILE *stream)
{
	for (size_t at = 0; at < layout->count; at++) {
		size_t i = layout->order[at];
		size_t width = layout->widths[i];
		const struct table_column *column = &table->columns[i];
		const struct table_cell *cell = &table_row(table, row)[i];
		bool is_last = at + 1 == layout->count;
		if (!table_is_text(column->kind)) {
			char number[TABLE_NUMBER_SIZE];
			enum terminal_colour colour = colour_of(column->kind, cell);
			print_number(column->kind, cell, number);
			if (colour != TERMINAL_PLAIN)
				terminal_paint(table->painter, colour);
			print_field(column, number, width, is_last, stream);
			if (colour != TERMINAL_PLAIN)
				terminal_paint(table->painter, TERMINAL_PLAIN);
			continue;
		}
		char *text = column->kind == TABLE_TREE   ? text_in_tree(lines, row, cell, width)
			     : column->kind == TABLE_CODE ? cut_text(text_of(cell), width)
							  : table_format_fit(text_of(cell), width);
		print_field(column, text, width, is_last, stream);
		free(text);
	}
	fputc('\n', stream);
}

/* The tree lines of the first TABLE_TREE column, if any. */
static void init_lines(const struct table *table, struct tree_lines *lines)
{
	uint32_t *depths = xalloc_zeroed(table->row_count, sizeof(*depths));
	size_t tree = 0;
	while (tree < table->column_count && table->columns[tree].kind != TABLE_TREE)
		tree++;
	for (size_t row = 0; tree < table->column_count && row < table->row_count; row++)
		depths[row] = table_row(table, row)[tree].depth;
	tree_lines_init(lines, depths, table->row_count,
			strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
	free(depths);
}

void table_format_text(const struct table *table, FILE *stream, unsigned width)
{
	struct layout layout = {
		.order = xalloc_zeroed(table->column_count, sizeof(*layout.order)),
		.widths = xalloc_zeroed(table->column_count, sizeof(*layout.widths)),
	};
	struct tree_lines lines;
	measure_columns(table, &layout);
	if (width > 0) {
		drop_optional(table, &layout, width);
		shrink_texts(table, &layout, width);
		shrink_names(table, &layout, width);
	}
	init_lines(table, &lines);
	print_titles(table, &layout, stream);
	for (size_t row = 0; row < table->row_count; row++)
		print_row(table, &layout, &lines, row, stream);
	tree_lines_finish(&lines);
	free(layout.order);
	free(layout.widths);
}
