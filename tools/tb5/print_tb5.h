/*
 * Shared by the parts of print_tb5: the walk, the limit of entries, and the fields of the stream
 * being printed.
 */
#ifndef TOOLS_TB5_PRINT_TB5_H
#define TOOLS_TB5_PRINT_TB5_H

#include "tools/tb5/tb5_walk.h"
#include "tools/terminal/terminal.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
	TBRW_SAMPREC_DESC_ENTRY descriptor;
	char *name;
};

struct printer {
	struct tb5_walk walk;
	uint64_t limit;       /* entries of a section */
	uint64_t index;       /* of the next entry */
	bool cut;             /* the limit kept an entry of this section from being printed */
	enum dat_kind kind;   /* of the structure before */
	struct field *fields; /* of the stream being printed */
	size_t field_count;
	struct terminal_filter text; /* of a stream of text */
	int status;                  /* EXIT_FAILURE: something could not be read */
};

/* Keep output on its line and terminals unharmed by the file: quotes, backslashes, line feeds and
 * tabs as in C, the rest as in tools/terminal/terminal.h. A piece may end within a character; utf8
 * NULL: the text ends. */
void print_escaped(const char *utf8);
void print_escaped_piece(struct terminal_filter *filter, const char *utf8, size_t size);
/* The string in quotes, or - for none. */
void print_string(TBRW_PTR file, TBRW_STRING_OR_ID id);
/* Sixteen bytes to an entry. */
void print_bytes(struct printer *p, const unsigned char *data, TBRW_U32 size);

/* Counts an entry; false when the limit is reached. */
bool print_next_entry(struct printer *p);
/* Ends a list of entries. */
void print_end_entries(struct printer *p);

/* Print all global sections, or one stream. Unreadable parts are reported; the sections behind a
 * damaged one are still shown. */
void print_global_sections(struct printer *p);
void print_stream(struct printer *p, TBRW_U32 stream);

/* Prints an open data section by its printer's fields; walk: the printer's first member. */
TBRW_U32 print_data(struct tb5_walk *walk);

#endif
