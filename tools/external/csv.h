/*
 * Comma-separated values, row by row, of a file of any size and of hostile content: RFC 4180 with a
 * byte order mark, lines that end in LF or CRLF, a last line without an end. A quote opens a quoted
 * field only as its first character.
 */
#ifndef TOOLS_EXTERNAL_CSV_H
#define TOOLS_EXTERNAL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer rows are bad ones; so are quoted fields, which a forgotten quote makes of the rest of the
 * file. */
#define CSV_ROW_MAX (1u << 20)

struct csv_field {
	char *text; /* without quotes, ends in NUL; valid until the next row */
	uint32_t size;
	uint32_t line;     /* of its first byte, from the row's line on: 0 in most rows */
	uint32_t column;   /* bytes into its line, from 1 on */
	uint32_t raw_size; /* with quotes */
};

enum csv_status {
	CSV_ROW,
	CSV_BAD, /* problem says why; the next row is another one */
	CSV_END,
	CSV_FAILED, /* errno of a read */
};

struct csv { /* all zero but for fd: at the start of the file */
	int fd;
	/* The present row, blank lines left out. */
	uint64_t line; /* its first one, from 1 on */
	struct csv_field *fields;
	size_t count;
	/* Of a bad row. */
	const char *problem;
	struct csv_field at;
	/* Of the bytes read: all of the file's at the end. */
	uint64_t size;
	uint64_t checksum;
	/* Private. */
	char *buffer;
	size_t start, end, buffer_capacity, field_capacity;
	uint64_t next_line; /* less 1 */
	bool is_at_end;
	bool is_begun;
	int error; /* errno of a read */
};

enum csv_status csv_next(struct csv *csv);
/* Reads on to the end, for size and checksum. Returns 0 or an errno value. */
int csv_skip(struct csv *csv);
void csv_finish(struct csv *csv); /* the descriptor stays open */

#endif
