/*
 * Output formats of reports. To add one: a file with its print function, a row in format.c.
 */
#ifndef TOOLS_TABLE_FORMAT_H
#define TOOLS_TABLE_FORMAT_H

#include "tools/table/table.h"
#include <stdio.h>

enum format_id {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
};

struct format {
	const char *name;
	enum format_id id;
	/* width: columns to fit in, 0 for no limit. Errors show in ferror(stream). */
	void (*print)(const struct table *table, FILE *stream, unsigned width);
};

/* NULL behind the last one. */
const struct format *format_at(size_t index);
/* NULL if there is no such format. */
const struct format *format_find(const char *name);

/* Aligned columns, figures first. A tree has lines, ASCII ones where the locale's characters are
 * not UTF-8. Names are shortened in the middle to fit, and visible as a whole, also in a file: a
 * text is for people (tools/cli/terminal.h). */
void format_text_print(const struct table *table, FILE *stream, unsigned width);

/* RFC 4180 quoting, lines end in LF, first line is the header, times in seconds. A text whose first
 * character but spaces is one of = + - @, tab or CR, or that after apostrophes, has an apostrophe
 * more in front of it: spreadsheets would take it for a formula, in quotes too (tried with
 * LibreOffice 7.4). Names of Objective-C methods, -[Class method], are left as they are. */
void format_csv_print(const struct table *table, FILE *stream, unsigned width);
void format_csv_print_field(const char *text, FILE *stream);

/* An array of objects; times in seconds, not known is null. */
void format_json_print(const struct table *table, FILE *stream, unsigned width);

/* Text as a terminal may have it, at most `width` columns wide (0: any), shortened in the middle.
 * The caller frees it. */
char *format_text_fit(const char *text, size_t width);
/* Columns that a UTF-8 text takes on a terminal as it is shown there, as wcwidth(3) has it
 * in the locale's UTF-8; a character that it does not know counts as one. */
size_t format_text_columns(const char *text);

#endif
