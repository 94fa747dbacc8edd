/* Counters that others measured: a row for each, by process and thread. */
#include "containers/compare.h"
#include "profile/read/external.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/stacks/sampled_result.h"
#include <stdlib.h>
#include <string.h>

struct counter_row {
	const char *name;
	uint32_t kind; /* enum profile_series_kind */
	bool is_foreign;
	uint32_t pid, tid; /* 0: not said */
	uint64_t values;
	double sum, least, most, first, last;
	/* Of totals so far: how far they went up. A smaller total than before has begun at 0 again.
	 */
	double increase;
	uint64_t first_tsc;
	char *start; /* text of the table */
};

struct counters {
	const struct report_input *input;
	struct counter_row *rows;
	struct index_map map;
};

static const struct table_column columns[] = {
	{"Counter", "counter", TABLE_NAME, TABLE_ALL},
	{"Kind", "kind", TABLE_TEXT, TABLE_ALL},
	{"Process", "process", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
	{"PID", "pid", TABLE_ID, TABLE_ALL},
	{"TID", "tid", TABLE_ID, TABLE_ALL},
	{"Values", "values", TABLE_COUNT, TABLE_ALL},
	{"Increase", "increase", TABLE_REAL, TABLE_ALL},
	{"Mean", "mean", TABLE_REAL, TABLE_ALL},
	{"Minimum", "minimum", TABLE_REAL, TABLE_ALL},
	{"Maximum", "maximum", TABLE_REAL, TABLE_ALL},
	{"First", "first", TABLE_REAL, TABLE_DATA},
	{"Last", "last", TABLE_REAL, TABLE_DATA},
	{"Sum", "sum", TABLE_REAL, TABLE_DATA},
	{"First Time", "first_time", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
};

static bool is_same_row(const void *item, const void *wanted)
{
	const struct counter_row *row = item, *other = wanted;
	return row->kind == other->kind && row->is_foreign == other->is_foreign &&
	       row->pid == other->pid && row->tid == other->tid &&
	       strcmp(row->name, other->name) == 0;
}

static struct counter_row *find_row(struct counters *counters,
				    const struct profile_counter *counter)
{
	const struct profile_reader *reader = counters->input->reader;
	const struct profile_series *series = profile_reader_series(reader, counter->series);
	const struct profile_source *source = profile_reader_source(reader, series->source);
	const struct counter_row wanted = {
		.name = profile_reader_series_name(reader, counter->series),
		.kind = series->kind,
		.is_foreign = (source->flags & PROFILE_SOURCE_FOREIGN) != 0,
		.pid = counter->pid,
		.tid = counter->tid,
	};
	const uint64_t key[] = {index_map_hash_text(&counters->map, wanted.name),
				(uint64_t)wanted.pid << 32 | wanted.tid,
				(uint64_t)wanted.kind << 1 | wanted.is_foreign};
	uint32_t at =
		index_map_enter(&counters->map, &counters->rows, &wanted, sizeof(wanted),
				index_map_hash(&counters->map, key, sizeof(key)), is_same_row);
	return &counters->rows[at];
}

static bool take_value(const struct profile_counter *counter, void *user)
{
	struct counter_row *row = find_row(user, counter);
	double value = profile_counter_value(counter);
	if (row->values == 0) {
		row->first = row->least = row->most = row->last = value;
		row->first_tsc = counter->tsc;
	}
	row->increase += value >= row->last ? value - row->last : value;
	row->least = value < row->least ? value : row->least;
	row->most = value > row->most ? value : row->most;
	row->last = value;
	row->sum += value;
	row->values++;
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct counter_row *left = a, *right = b;
	int order = strcmp(left->name, right->name);
	if (!order)
		order = compare_numbers(left->kind, right->kind);
	if (!order)
		order = compare_numbers(left->is_foreign, right->is_foreign);
	if (!order)
		order = compare_numbers(left->pid, right->pid);
	return order ? order : compare_numbers(left->tid, right->tid);
}

static const char *name_process(const struct profile_reader *reader, uint32_t pid)
{
	for (uint32_t i = 0; pid != 0 && i < profile_reader_process_count(reader); i++)
		if (profile_reader_process(reader, i)->pid == pid)
			return profile_reader_process(reader, i)->name;
	return "";
}

static void add_row(const struct profile_reader *reader, struct counter_row *row,
		    struct table *table)
{
	const double reals[] = {row->sum / (double)row->values,
				row->least,
				row->most,
				row->first,
				row->last,
				row->sum};
	struct table_cell *cells = table_add_row(table);
	row->start = report_external_time(reader, row->first_tsc, row->is_foreign);
	cells[0].text = row->name;
	cells[1].text = row->kind == PROFILE_SERIES_COUNT ? "COUNT" : "INST";
	cells[2].text = name_process(reader, row->pid);
	cells[3].number = row->pid;
	cells[3].is_unknown = row->pid == 0;
	cells[4].number = row->tid;
	cells[4].is_unknown = row->tid == 0;
	cells[5].number = row->values;
	table_set_real(&cells[6], row->increase);
	cells[6].is_unknown |= row->kind != PROFILE_SERIES_COUNT;
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		table_set_real(&cells[7 + i], reals[i]);
	cells[13].text = row->start;
}

void report_counters_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct counters counters = {.input = input};
	struct table table;
	TBRW_U32 code = profile_reader_each_counter(input->reader, take_value, &counters);
	size_t count = index_map_count(&counters.map);
	if (code != VT_SUCCESS)
		sampled_result_explain(input->path, code);
	if (count > 1)
		qsort(counters.rows, count, sizeof(*counters.rows), compare_rows);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && (input->options->limit == 0 || i < input->options->limit);
	     i++)
		add_row(input->reader, &counters.rows[i], &table);
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
	for (size_t i = 0; i < count; i++)
		free(counters.rows[i].start);
	free(counters.rows);
	index_map_finish(&counters.map);
}
