/* Counters that others measured: a row for each, by process and thread. */
#include "containers/compare.h"
#include "profile/read/external.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <stdlib.h>
#include <string.h>

struct counter_row {
	const char *name;
	uint32_t kind; /* enum profile_series_kind */
	bool is_foreign;
	uint32_t pid, tid; /* 0: not said */
	uint64_t values;
	double sum, least, most;
	double first, last; /* in time */
	/* Of totals so far: how far they went up within each source, whose totals may begin at
	 * different times and places. A smaller total than before has begun at 0 again. */
	double increase;
	double previous; /* of the source, in its order */
	uint32_t source;
	uint64_t first_tsc, last_tsc;
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
	{"First Time", "first_time", TABLE_TIME, TABLE_ALL | TABLE_OPTIONAL},
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
	const struct counters *counters = user;
	struct counter_row *row = find_row(user, counter);
	uint32_t source = profile_reader_series(counters->input->reader, counter->series)->source;
	double value = profile_counter_value(counter);
	bool is_first = row->values == 0;
	if (is_first || row->source != source)
		row->previous = value;
	row->source = source;
	row->increase += value >= row->previous ? value - row->previous : value;
	row->previous = value;
	if (is_first || counter->tsc < row->first_tsc) {
		row->first = value;
		row->first_tsc = counter->tsc;
	}
	if (is_first || counter->tsc >= row->last_tsc) {
		row->last = value;
		row->last_tsc = counter->tsc;
	}
	row->least = is_first || value < row->least ? value : row->least;
	row->most = is_first || value > row->most ? value : row->most;
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
	row->start = report_set_time(&cells[13], reader, row->first_tsc, row->is_foreign);
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
}

static void print_table(const struct counters *counters, FILE *stream, unsigned width)
{
	const struct report_input *input = counters->input;
	size_t count = index_map_count(&counters->map);
	struct table table;
	if (count > 1)
		qsort(counters->rows, count, sizeof(*counters->rows), compare_rows);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && (input->options->limit == 0 || i < input->options->limit);
	     i++)
		add_row(input->reader, &counters->rows[i], &table);
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
}

TBRW_U32 report_counters_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct counters counters = {.input = input};
	TBRW_U32 code = profile_reader_each_counter(input->reader, take_value, &counters);
	if (code == VT_SUCCESS)
		print_table(&counters, stream, width);
	for (size_t i = 0; i < index_map_count(&counters.map); i++)
		free(counters.rows[i].start);
	free(counters.rows);
	index_map_finish(&counters.map);
	return code;
}
