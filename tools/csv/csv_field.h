/*
 * A text as a field of CSV (RFC 4180).
 */
#ifndef TOOLS_CSV_CSV_FIELD_H
#define TOOLS_CSV_CSV_FIELD_H

#include <stdbool.h>
#include <stdio.h>

/* Whether it needs quotes around it: for a comma, a quote or a line's end. */
bool csv_field_needs_quotes(const char *text);

/* What stands inside the quotes: the text with each of its quotes twice. */
void csv_field_write_inside(const char *text, FILE *stream);

/* The text, in quotes if it needs them or they are wanted. */
void csv_field_write(const char *text, bool is_quoted, FILE *stream);

#endif
