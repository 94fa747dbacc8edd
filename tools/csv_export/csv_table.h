/*
 * Tables of intervals and of counters as VTune imports them: one a file, times of
 * CLOCK_MONOTONIC_RAW in ns, the process and thread in two columns that may be empty.
 */
#ifndef TOOLS_CSV_EXPORT_CSV_TABLE_H
#define TOOLS_CSV_EXPORT_CSV_TABLE_H

#include <stdint.h>
#include <stdio.h>

/* Behind a counter's name: a total so far, or a value of a moment. */
#define CSV_TABLE_TOTAL   "COUNT"
#define CSV_TABLE_INSTANT "INST"

struct output_folder;

/* Begins a file "NAME-hostname-HOST.csv", the parts made fit for a name; without a host "NAME.csv".
 * Where there is one of the name, a number goes before it. Returns its stream. */
FILE *csv_table_begin(struct output_folder *folder, const char *name, const char *host);

void csv_table_intervals(FILE *stream);
/* pid and tid: 0 for none. */
void csv_table_interval(FILE *stream, const char *name, uint64_t start_ns, uint64_t end_ns,
			uint32_t pid, uint32_t tid);

/* A head with counters: begin, add for each, end. A row: its time, values, ids. */
void csv_table_counters(FILE *stream);
void csv_table_counter(FILE *stream, const char *name, const char *kind);
void csv_table_counters_end(FILE *stream);
void csv_table_ids(FILE *stream, uint32_t pid, uint32_t tid);

#endif
