/*
 * A table of external data in a CSV file, as VTune imports it. Its header says which:
 *
 *   name,start_tsc.CLOCK,end_tsc[,pid][,tid]            intervals: tasks with a tid, frames without
 *   tsc.CLOCK,NAME.COUNT|INST[,...][,pid][,tid]         values of counters
 *
 * CLOCK: CLOCK_MONOTONIC_RAW (ns); QPC, the system's performance counter, which is the same on
 * Linux; RDTSC or TSC; UTC, as YYYY-MM-DD hh:mm:ss.sss with any number of decimals. Source: VTune's
 * help, "Create a CSV File with External Data".
 */
#ifndef TOOLS_EXTERNAL_EXTERNAL_TABLE_H
#define TOOLS_EXTERNAL_EXTERNAL_TABLE_H

#include "tools/external/csv.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum external_clock {
	EXTERNAL_CLOCK_RAW,     /* ns */
	EXTERNAL_CLOCK_QPC,     /* likewise */
	EXTERNAL_CLOCK_COUNTER, /* of the processor */
	EXTERNAL_CLOCK_UTC,     /* ns since 1970 */
};

enum external_role {
	EXTERNAL_NAME,
	EXTERNAL_START, /* or the time of values */
	EXTERNAL_END,
	EXTERNAL_PID,
	EXTERNAL_TID,
	EXTERNAL_COUNT, /* totals so far */
	EXTERNAL_INST,  /* values of the moment */
};

struct external_column {
	enum external_role role;
	char *name; /* of a counter, without its suffix; else NULL */
};

struct external_value {
	uint32_t column;
	bool is_real;
	int64_t whole; /* or real */
	double real;
};

struct external_row {
	const char *name; /* NULL: values of counters */
	uint64_t start;   /* by the table's clock */
	uint64_t end;
	uint32_t pid; /* 0: not said */
	uint32_t tid;
	const struct external_value *values;
	size_t value_count;
};

/* Of a row, or of the header. */
struct external_problem {
	uint64_t line;
	uint32_t column; /* in bytes, from 1 on */
	char text[160];
};

struct external_table {
	struct csv csv;
	enum external_clock clock;
	bool is_intervals;
	struct external_column *columns;
	size_t column_count;
	struct external_value *values; /* of the row */
	size_t column_capacity;
	size_t value_capacity;
};

/* Reads the header. false: problem says why no table begins there, with line 0 for an errno value
 * of a read. Finish the table in any case. */
bool external_table_open(struct external_table *table, int fd, struct external_problem *problem);

/* The next row: CSV_ROW, CSV_BAD with the problem, CSV_END, or CSV_FAILED (table->csv.error).
 * Pointers in the row are valid until the next one. */
enum csv_status external_table_next(struct external_table *table, struct external_row *row,
				    struct external_problem *problem);

void external_table_finish(struct external_table *table);

/* "YYYY-MM-DD hh:mm:ss[.decimals]" as ns since 1970; digits beyond ns are cut. false: no such date,
 * or before 1970 or after 2554. */
bool external_parse_utc(const char *text, uint64_t *ns);

#endif
