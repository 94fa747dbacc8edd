/*
 * Rows of places in the code, with the CPU time of each: what the reports source and assembly have
 * in common.
 */
#ifndef TOOLS_CODE_COST_ROWS_H
#define TOOLS_CODE_COST_ROWS_H

#include "tools/code/place_costs.h"
#include "tools/report/report.h"
#include "tools/table/table.h"
#include <stddef.h>
#include <stdio.h>

/* The first columns of such a table. */
enum {
	COST_ROWS_SELF,
	COST_ROWS_SHARE,
	COST_ROWS_ERROR,
	COST_ROWS_TOTAL,
	COST_ROWS_SAMPLES,
	COST_ROWS_COLUMNS /* number of them: the report's own begin here */
};

/* Their entries in an array of columns. */
#define COST_ROWS_COLUMN_ENTRIES                                                              \
	[COST_ROWS_SELF] = {"CPU Time:Self", "cpu_time_self_s", TABLE_SECONDS, TABLE_ALL},    \
	[COST_ROWS_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},   \
	[COST_ROWS_ERROR] = REPORT_ERROR_COLUMN,                                              \
	[COST_ROWS_TOTAL] = {"CPU Time:Total", "cpu_time_total_s", TABLE_SECONDS, TABLE_ALL}, \
	[COST_ROWS_SAMPLES] = {"Samples:Total", "samples_total", TABLE_COUNT, TABLE_DATA}

struct cost_rows {
	const struct report_input *input;
	struct table table;
	char **texts; /* of the rows */
	size_t text_count;
	size_t text_capacity;
};

/* No rows, of these columns; both must outlive them. */
void cost_rows_begin(struct cost_rows *rows, const struct report_input *input,
		     const struct table_column *columns, size_t column_count);
void cost_rows_finish(struct cost_rows *rows);

/* A row without time, valid until the next one. */
struct table_cell *cost_rows_add(struct cost_rows *rows);

/* Gives a row its time; all: of all stacks. */
void cost_rows_set(const struct cost_rows *rows, const struct draws_part *all,
		   const struct place_cost *cost, struct table_cell *row);

/* Takes a text of a row over, until the rows are finished. Returns it. */
const char *cost_rows_keep(struct cost_rows *rows, char *text);

/* Prints the rows in the options' format. */
void cost_rows_print(struct cost_rows *rows, FILE *stream, unsigned width);

#endif
