/*
 * The table of a report: rows under columns. Formats (table_format.h) print it.
 */
#ifndef TOOLS_TABLE_TABLE_H
#define TOOLS_TABLE_TABLE_H

#include "tools/terminal/terminal.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum table_kind {
	TABLE_TEXT,
	TABLE_TREE,    /* text with a depth */
	TABLE_NAME,    /* text, shortened first */
	TABLE_CODE,    /* text, cut at its end to fit */
	TABLE_SECONDS, /* number: ns */
	TABLE_COUNT,
	TABLE_DIFFERENCE, /* number: ns as int64_t, with a sign; data as TABLE_SECONDS */
	TABLE_CHANGE,     /* number: parts of 10^6 likewise, shown in percent */
	TABLE_ID,         /* a number that is a name */
	TABLE_SHARE,      /* number: parts of 10^6 */
	TABLE_ERROR,      /* likewise, shown in percent points under "+-"; text: a mark in front, or
			     NULL. A column without errors is not shown */
	TABLE_ADDRESS,
	TABLE_DURATION, /* number: ns; text has a unit that fits, data seconds to the ns */
	TABLE_REAL,     /* number: the bits of a double (table_set_real) */
	TABLE_TIME,     /* number: ns since a start, as int64_t; or text: a date */
};

/* Whether cells of the kind hold text; else a number. */
bool table_is_text(enum table_kind kind);

/* Whom a column is for; a format (table_format.h) is for one of them. */
#define TABLE_SHOWN  1u /* people */
#define TABLE_PLACED 2u /* programs that find columns by place: each keeps its own */
#define TABLE_KEYED  4u /* programs that find columns by key */
#define TABLE_DATA   (TABLE_PLACED | TABLE_KEYED)
#define TABLE_ALL    (TABLE_SHOWN | TABLE_DATA)
/* Dropped on a narrow terminal, the last column first. */
#define TABLE_OPTIONAL 8u
/* In data behind all others: a column of a later version. */
#define TABLE_LATER 16u
/* None of VTune's report; nor are later ones. */
#define TABLE_OURS 32u

struct table_column {
	const char *title;
	const char *key;
	enum table_kind kind;
	unsigned audience; /* TABLE_... above */
};

struct table_cell {
	const char *text; /* borrowed */
	uint64_t number;
	uint32_t depth;  /* TABLE_TREE */
	bool is_unknown; /* printed as nothing, null in JSON */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	struct table_cell *cells;
	size_t row_count;
	size_t row_capacity;
	const struct terminal_painter *painter; /* for text; NULL: no colours */
};

void table_init(struct table *table, const struct table_column *columns, size_t column_count);
void table_finish(struct table *table);

/* The columns for an audience, in its order: their indices. Returns how many; `order` has room for
 * all. */
size_t table_order(const struct table *table, unsigned audience, size_t *order);

/* A new row of cleared cells, valid until the next one. */
struct table_cell *table_add_row(struct table *table);
const struct table_cell *table_row(const struct table *table, size_t row);

/* Leaves out the rows whose TABLE_SHARE, the first one of the columns, is less than `least` (parts
 * of 10^6). Returns how many. */
size_t table_drop_below(struct table *table, uint64_t least);

/* The column of that title or key, in letters of either case, with spaces, '-' and '_' alike, a key
 * also without its unit _s; "+-" is the first one of errors. SIZE_MAX: none. */
size_t table_find_column(const struct table *table, const char *name);

/* The titles of the columns for anybody, each once, NULL behind the last; for the caller to free,
 * the texts are the columns'. */
const char **table_titles(const struct table *table);

/* Sorts the rows behind the first `fixed` ones by a column; of a tree (TABLE_TREE) those below one
 * parent. Unknown cells and empty texts come last, equal rows stay in their order. */
void table_sort(struct table *table, size_t fixed, size_t column, bool is_ascending);

/* A number's text in data formats; "" for an unknown one. */
#define TABLE_NUMBER_SIZE 40u
void table_number(enum table_kind kind, const struct table_cell *cell,
		  char number[TABLE_NUMBER_SIZE]);

void table_set_real(struct table_cell *cell, double value);

/* part of whole in 10^-6, rounded; 0 of 0 is 0. */
uint64_t table_share(uint64_t part, uint64_t whole);
/* The same share in percent. */
double table_percent(uint64_t part, uint64_t whole);

#endif
