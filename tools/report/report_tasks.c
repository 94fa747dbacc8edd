/* Tasks and frames: a row for each name, or for each one that was slow. */
#include "containers/compare.h"
#include "profile/read/external.h"
#include "tools/intervals/span_sums.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Intervals of a name and kind, of this host or of others; or one interval. */
struct task_row {
	const char *name;
	uint32_t kind; /* enum profile_series_kind */
	bool is_foreign;
	uint64_t count;
	uint64_t total_ns, least_ns, most_ns;
	uint64_t start_tsc; /* of the first one */
	uint32_t pid, tid;  /* of the last one */
	uint32_t item;      /* of the sums */
	char *start;        /* texts of the table */
	char *top;
};

struct tasks {
	const struct report_input *input;
	struct task_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct index_map names;
	uint32_t *row_of_series; /* without a threshold */
	/* With a threshold and a limit: the rows to come, a heap with the last one first; how many
	 * of them equal that one and did not come yet. */
	struct task_row *wanted;
	size_t wanted_count;
	size_t wanted_capacity;
	int64_t equals;
	struct span_sums *sums;
	struct call_path call_path;
};

enum task_value {
	TASK_NAME,
	TASK_KIND,
	TASK_COUNT,
	TASK_TOTAL,
	TASK_AVERAGE,
	TASK_LEAST,
	TASK_MOST,
	TASK_START,
	TASK_PID,
	TASK_TID,
	TASK_CPU,
	TASK_SAMPLES,
	TASK_TOP,
};

static const struct table_column kind_columns[] = {
	[TASK_NAME] = {"Task", "task", TABLE_NAME, TABLE_ALL},
	[TASK_KIND] = {"Kind", "kind", TABLE_TEXT, TABLE_ALL},
	[TASK_COUNT] = {"Count", "count", TABLE_COUNT, TABLE_ALL},
	[TASK_TOTAL] = {"Total Time", "total_s", TABLE_DURATION, TABLE_ALL},
	[TASK_AVERAGE] = {"Average", "average_s", TABLE_DURATION, TABLE_ALL},
	[TASK_LEAST] = {"Minimum", "minimum_s", TABLE_DURATION, TABLE_ALL},
	[TASK_MOST] = {"Maximum", "maximum_s", TABLE_DURATION, TABLE_ALL},
	[TASK_START] = {"First Start", "first_start", TABLE_TIME, TABLE_ALL | TABLE_OPTIONAL},
	[TASK_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[TASK_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_DATA},
	[TASK_TOP] = {"Top Functions", "top_functions", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
};

static const struct table_column single_columns[] = {
	[TASK_NAME] = {"Task", "task", TABLE_NAME, TABLE_ALL},
	[TASK_KIND] = {"Kind", "kind", TABLE_TEXT, TABLE_ALL},
	[TASK_TOTAL] = {"Time", "time_s", TABLE_DURATION, TABLE_ALL},
	[TASK_START] = {"Start", "start", TABLE_TIME, TABLE_ALL},
	[TASK_PID] = {"PID", "pid", TABLE_ID, TABLE_ALL},
	[TASK_TID] = {"TID", "tid", TABLE_ID, TABLE_ALL},
	[TASK_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[TASK_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_DATA},
	[TASK_TOP] = {"Top Functions", "top_functions", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
};

static char *print_date(uint64_t ns)
{
	char date[32];
	struct tm parts;
	time_t seconds = (time_t)(ns / 1000000000);
	if (!gmtime_r(&seconds, &parts) ||
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts) == 0)
		return xalloc_text("");
	return xalloc_printf("%s.%06u UTC", date, (unsigned)(ns % 1000000000 / 1000));
}

char *report_set_time(struct table_cell *cell, const struct profile_reader *reader, uint64_t tsc,
		      bool is_foreign)
{
	char *date = is_foreign ? print_date(profile_reader_date_ns(reader, tsc)) : NULL;
	cell->text = date;
	/* Of another computer, or noted before: it may be earlier. */
	cell->number = profile_reader_raw_ns(reader, tsc) - profile_reader_start_ns(reader);
	return date;
}

static bool is_same_row(const void *item, const void *wanted)
{
	const struct task_row *row = item, *other = wanted;
	return row->kind == other->kind && row->is_foreign == other->is_foreign &&
	       strcmp(row->name, other->name) == 0;
}

static struct task_row describe_series(const struct profile_reader *reader, uint32_t series)
{
	const struct profile_series *record = profile_reader_series(reader, series);
	const struct profile_source *source = profile_reader_source(reader, record->source);
	return (struct task_row){.name = profile_reader_series_name(reader, series),
				 .kind = record->kind,
				 .is_foreign = (source->flags & PROFILE_SOURCE_FOREIGN) != 0};
}

/* Sources may have series of one name: they share a row. */
static void make_rows(struct tasks *tasks)
{
	const struct profile_reader *reader = tasks->input->reader;
	uint32_t count = profile_reader_series_count(reader);
	tasks->row_of_series = xalloc_zeroed(count, sizeof(*tasks->row_of_series));
	for (uint32_t i = 0; i < count; i++) {
		struct task_row row = describe_series(reader, i);
		tasks->row_of_series[i] = SPANS_NOT;
		if (row.kind > PROFILE_SERIES_TASK)
			continue;
		uint64_t hash = index_map_hash_text(&tasks->names, row.name) ^ row.kind;
		tasks->row_of_series[i] = index_map_enter(&tasks->names, &tasks->rows, &row,
							  sizeof(row), hash, is_same_row);
	}
	tasks->row_count = index_map_count(&tasks->names);
}

static void add_interval(struct task_row *row, const struct profile_interval *interval, uint64_t ns)
{
	if (row->count == 0 || ns < row->least_ns)
		row->least_ns = ns;
	if (ns > row->most_ns)
		row->most_ns = ns;
	if (row->count == 0 || interval->start_tsc < row->start_tsc)
		row->start_tsc = interval->start_tsc;
	row->pid = interval->pid;
	row->tid = interval->tid;
	/* Intervals of a file may have any length: the sum ends at the largest number. */
	row->total_ns = row->total_ns > UINT64_MAX - ns ? UINT64_MAX : row->total_ns + ns;
	row->count++;
}

/* The longest first. */
static int compare_rows(const void *a, const void *b)
{
	const struct task_row *left = a, *right = b;
	int order = compare_numbers(right->total_ns, left->total_ns);
	if (!order)
		order = strcmp(left->name, right->name);
	if (!order)
		order = compare_numbers(left->kind, right->kind);
	if (!order)
		order = compare_numbers(left->start_tsc, right->start_tsc);
	return order ? order : compare_numbers(left->tid, right->tid);
}

static uint64_t measure(const struct tasks *tasks, const struct profile_interval *interval)
{
	const struct profile_reader *reader = tasks->input->reader;
	return profile_reader_raw_ns(reader, interval->end_tsc) -
	       profile_reader_raw_ns(reader, interval->start_tsc);
}

/* An interval as a row of its own. */
static struct task_row describe_interval(const struct tasks *tasks,
					 const struct profile_interval *interval)
{
	struct task_row row = describe_series(tasks->input->reader, interval->series);
	add_interval(&row, interval, measure(tasks, interval));
	return row;
}

/* Moves the row at the place below those that come behind it. */
static void sink(struct task_row *rows, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && compare_rows(&rows[child + 1], &rows[child]) > 0)
			child++;
		if (compare_rows(&rows[at], &rows[child]) >= 0)
			return;
		struct task_row row = rows[at];
		rows[at] = rows[child];
		rows[child] = row;
	}
}

static void rise(struct task_row *rows, size_t at)
{
	for (size_t parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (compare_rows(&rows[parent], &rows[at]) >= 0)
			return;
		struct task_row row = rows[at];
		rows[at] = rows[parent];
		rows[parent] = row;
	}
}

/* Keeps as many slow intervals as rows are wanted, the last row first. */
static bool see_interval(const struct profile_interval *interval, void *user)
{
	struct tasks *tasks = user;
	const struct report_options *options = tasks->input->options;
	if (measure(tasks, interval) <= options->threshold_ns)
		return true;
	const struct task_row row = describe_interval(tasks, interval);
	if (tasks->wanted_count < options->limit) {
		xalloc_room(&tasks->wanted, &tasks->wanted_capacity, tasks->wanted_count + 1,
			    sizeof(*tasks->wanted));
		tasks->wanted[tasks->wanted_count] = row;
		rise(tasks->wanted, tasks->wanted_count++);
	} else if (compare_rows(&row, &tasks->wanted[0]) < 0) {
		tasks->wanted[0] = row;
		sink(tasks->wanted, tasks->wanted_count, 0);
	}
	return true;
}

/* Finds the rows of a limited report, so that nothing is kept of others. */
static TBRW_U32 find_wanted(struct tasks *tasks)
{
	const struct report_options *options = tasks->input->options;
	if (!options->has_threshold || options->limit == 0)
		return VT_SUCCESS;
	TBRW_U32 code = profile_reader_each_interval(tasks->input->reader, see_interval, tasks);
	for (size_t i = 0; i < tasks->wanted_count; i++)
		tasks->equals += compare_rows(&tasks->wanted[i], &tasks->wanted[0]) == 0;
	return code;
}

static bool is_wanted(struct tasks *tasks, const struct task_row *row)
{
	if (tasks->input->options->limit == 0)
		return true;
	int order = tasks->wanted_count > 0 ? compare_rows(row, &tasks->wanted[0]) : 1;
	return order < 0 || (order == 0 && tasks->equals-- > 0);
}

/* The row of an interval: that of its name; one of its own, if slow ones are asked for. */
static uint32_t choose_row(const struct profile_interval *interval, void *user)
{
	struct tasks *tasks = user;
	const struct report_options *options = tasks->input->options;
	uint64_t ns = measure(tasks, interval);
	if (!options->has_threshold) {
		uint32_t row = tasks->row_of_series[interval->series];
		add_interval(&tasks->rows[row], interval, ns);
		return row;
	}
	if (ns <= options->threshold_ns || tasks->row_count >= SPANS_NOT)
		return SPANS_NOT;
	const struct task_row row = describe_interval(tasks, interval);
	if (!is_wanted(tasks, &row))
		return SPANS_NOT;
	xalloc_room(&tasks->rows, &tasks->row_capacity, tasks->row_count + 1, sizeof(*tasks->rows));
	tasks->rows[tasks->row_count] = row;
	return (uint32_t)tasks->row_count++;
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct tasks *tasks = user;
	const struct report_input *input = tasks->input;
	const struct profile_sample_info *info = sample->info;
	bool is_kernel = info->stack.kernel_us == PROFILE_KERNEL_ALL;
	call_path_of_stack(&tasks->call_path, input->reader, input->functions,
			   is_kernel ? TALLY_KERNEL : info->stack.node, info->stack.state,
			   input->options->mode);
	uint32_t function = call_path_leaf(&tasks->call_path);
	const struct span_share shares[] = {{function, sample->cpu_ns},
					    {FUNCTION_KERNEL, sample->kernel_ns}};
	if (call_path_is_taken(&tasks->call_path, input->functions, &input->options->filter))
		span_sums_add(tasks->sums, info->pid, info->tid, info->tsc, shares, 2);
	return true;
}

static char *name_top(const struct functions *functions, const struct span_sum *sum)
{
	char *names = NULL;
	for (size_t i = 0; i < sum->top.count; i++) {
		char *longer =
			xalloc_printf("%s%s%s %.1f %%", names ? names : "", names ? ", " : "",
				      functions_at(functions, sum->top.keys[i])->name,
				      table_percent(sum->top.weights[i], sum->weight));
		free(names);
		names = longer;
	}
	return names;
}

static void fill_row(struct tasks *tasks, struct task_row *row, struct table_cell *cells)
{
	struct span_sum sum;
	span_sums_get(tasks->sums, row->item, &sum);
	row->top = name_top(tasks->input->functions, &sum);
	row->start = report_set_time(&cells[TASK_START], tasks->input->reader, row->start_tsc,
				     row->is_foreign);
	cells[TASK_NAME].text = row->name;
	cells[TASK_KIND].text = row->kind == PROFILE_SERIES_TASK ? "task" : "frame";
	cells[TASK_TOTAL].number = row->total_ns;
	cells[TASK_CPU].number = sum.weight;
	cells[TASK_SAMPLES].number = sum.samples;
	cells[TASK_TOP].text = row->top;
	cells[TASK_COUNT].number = row->count;
	cells[TASK_AVERAGE].number = row->total_ns / row->count;
	cells[TASK_LEAST].number = row->least_ns;
	cells[TASK_MOST].number = row->most_ns;
	cells[TASK_PID].number = row->pid;
	cells[TASK_PID].is_unknown = row->pid == 0;
	cells[TASK_TID].number = row->tid;
	cells[TASK_TID].is_unknown = row->tid == 0;
}

static void print_table(struct tasks *tasks, FILE *stream, unsigned width)
{
	const struct report_input *input = tasks->input;
	bool is_single = input->options->has_threshold;
	const struct table_column *all = is_single ? single_columns : kind_columns;
	struct table_column columns[TASK_TOP + 1];
	enum task_value values[TASK_TOP + 1];
	struct table_cell cells[TASK_TOP + 1];
	struct table table;
	uint32_t limit = input->options->limit;
	size_t count = 0;
	for (int i = 0; i <= TASK_TOP; i++) {
		if (!all[i].title)
			continue;
		columns[count] = all[i];
		values[count++] = (enum task_value)i;
	}
	table_init(&table, columns, count);
	for (size_t i = 0; i < tasks->row_count && (limit == 0 || table.row_count < limit); i++) {
		if (tasks->rows[i].count == 0)
			continue;
		memset(cells, 0, sizeof(cells));
		fill_row(tasks, &tasks->rows[i], cells);
		struct table_cell *row = table_add_row(&table);
		for (size_t k = 0; k < count; k++)
			row[k] = cells[values[k]];
	}
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
}

static void free_tasks(struct tasks *tasks)
{
	for (size_t i = 0; i < tasks->row_count; i++) {
		free(tasks->rows[i].start);
		free(tasks->rows[i].top);
	}
	free(tasks->rows);
	free(tasks->wanted);
	free(tasks->row_of_series);
	index_map_finish(&tasks->names);
	call_path_finish(&tasks->call_path);
	span_sums_destroy(tasks->sums);
}

TBRW_U32 report_tasks_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct tasks tasks = {.input = input};
	TBRW_U32 code = VT_SUCCESS;
	if (!input->options->has_threshold)
		make_rows(&tasks);
	code = find_wanted(&tasks);
	if (code == VT_SUCCESS)
		code = span_sums_create(&tasks.sums, input->reader, choose_row, &tasks);
	for (size_t i = 0; i < tasks.row_count; i++)
		tasks.rows[i].item = (uint32_t)i;
	if (code == VT_SUCCESS && !span_sums_is_empty(tasks.sums))
		code = tally_each_sample(&input->tally, input->reader, &input->options->filter,
					 take_sample, &tasks);
	if (code == VT_SUCCESS) {
		if (tasks.row_count > 1)
			qsort(tasks.rows, tasks.row_count, sizeof(*tasks.rows), compare_rows);
		print_table(&tasks, stream, width);
	}
	free_tasks(&tasks);
	return code;
}
