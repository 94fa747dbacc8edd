/*
 * Output formats of reports. To add one: a file with its print function, a row in table_format.c.
 */
#ifndef TOOLS_TABLE_TABLE_FORMAT_H
#define TOOLS_TABLE_TABLE_FORMAT_H

#include "tools/table/table.h"
#include <stdio.h>

enum table_format_id {
	TABLE_FORMAT_TEXT,
	TABLE_FORMAT_CSV,
	TABLE_FORMAT_JSON,
	TABLE_FORMAT_VTUNE,
};

struct table_format {
	const char *name;
	enum table_format_id id;
	/* width: columns to fit in, 0 for no limit. Errors show in ferror(stream). */
	void (*print)(const struct table *table, FILE *stream, unsigned width);
};

/* NULL behind the last one. */
const struct table_format *table_format_at(size_t index);
/* NULL if there is no such format. */
const struct table_format *table_format_find(const char *name);

/* Aligned columns, figures first. A tree has lines, ASCII ones where the locale is not UTF-8. Names
 * are shortened in the middle to fit. Control characters are made visible, also in a file: the text
 * is for people (tools/terminal/terminal.h). */
void table_format_text(const struct table *table, FILE *stream, unsigned width);

/* RFC 4180 quoting, lines end in LF, first line is the header, times in seconds. A text with =, +,
 * -, @, tab or CR behind its leading spaces and apostrophes gets one apostrophe more: spreadsheets
 * would read a formula, in quotes too (tried with LibreOffice 7.4). Names of Objective-C methods,
 * -[Class method], stay. */
void table_format_csv(const struct table *table, FILE *stream, unsigned width);
void table_format_csv_field(const char *text, FILE *stream);

/* The columns that VTune has, for programs that read its reports: times in seconds, a text with
 * commas or quotes in quotes behind its depth's spaces, "[Unknown]" for none, control characters as
 * question marks; no mark before formulas. */
void table_format_vtune(const struct table *table, FILE *stream, unsigned width);

/* An array of objects; times in seconds, not known is null. */
void table_format_json(const struct table *table, FILE *stream, unsigned width);

/* The text with control characters made visible, at most `width` columns wide (0: any), shortened
 * in the middle. The caller frees the text. */
char *table_format_fit(const char *text, size_t width);
/* Columns of a UTF-8 text shown on a terminal, by wcwidth(3) in the locale's UTF-8; a character
 * unknown to wcwidth counts as one. */
size_t table_format_columns(const char *text);

#endif
