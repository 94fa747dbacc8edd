/* Elapsed time by the number of threads that ran at once, or could: two histograms. */
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/states/concurrency.h"
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_MAX = 50, BAR_MIN = 8, ROWS_MAX = 40, CLASS_ROWS_MAX = 8 };

#define CPUS_TITLE    "Simultaneously Utilized Logical CPUs"
#define THREADS_TITLE "Simultaneously Running Threads"

/* Numbers of threads that are one row. */
struct level_row {
	size_t first;
	size_t last;
	uint64_t ns;
	enum concurrency_class use;
};

struct histogram {
	const struct concurrency_times *times;
	uint64_t elapsed_ns;
	uint32_t target;
	size_t rows; /* with all numbers up to the target */
};

static struct histogram begin_histogram(const struct concurrency_times *times, uint64_t elapsed_ns,
					uint32_t target)
{
	size_t whole = (target + 999) / 1000;
	/* A target beyond all CPUs would only add empty rows. */
	size_t limit = whole > 4096 ? 4096 : whole;
	return (struct histogram){times, elapsed_ns, target,
				  times->count > limit + 1 ? times->count : limit + 1};
}

static uint64_t time_of(const struct histogram *histogram, size_t threads)
{
	return threads < histogram->times->count ? histogram->times->ns[threads] : 0;
}

/* ---- Text ---- */

/* The rows of numbers from `first` on that have one class, some numbers each if there are many.
 * Returns the first number behind. */
static size_t add_class(const struct histogram *histogram, size_t first, bool is_merged,
			struct level_row *rows, size_t *count)
{
	enum concurrency_class use = concurrency_classify(first, histogram->target);
	size_t past = first + 1;
	while (past < histogram->rows && concurrency_classify(past, histogram->target) == use)
		past++;
	size_t step = is_merged ? (past - first + CLASS_ROWS_MAX - 1) / CLASS_ROWS_MAX : 1;
	for (size_t at = first; at < past; at += step) {
		struct level_row row = {at, (at + step < past ? at + step : past) - 1, 0, use};
		for (size_t i = row.first; i <= row.last; i++)
			row.ns += time_of(histogram, i);
		rows[(*count)++] = row;
	}
	return past;
}

static char *label_row(const struct level_row *row)
{
	return row->first == row->last ? xalloc_printf("%zu", row->first)
				       : xalloc_printf("%zu-%zu", row->first, row->last);
}

/* In proportion to the time; what has time is seen. */
static void print_bar(uint64_t ns, uint64_t most_ns, size_t width, FILE *stream)
{
	size_t length =
		most_ns > 0 ? (size_t)((double)ns / (double)most_ns * (double)width + 0.5) : 0;
	if (ns > 0 && length == 0)
		fputc('|', stream);
	while (length-- > 0)
		fputc('#', stream);
}

static void print_rows(const struct histogram *histogram, const char *title, FILE *stream,
		       unsigned width)
{
	size_t most = histogram->rows < ROWS_MAX ? histogram->rows
						 : CONCURRENCY_CLASS_COUNT * CLASS_ROWS_MAX;
	struct level_row *rows = xalloc_zeroed(most + CONCURRENCY_CLASS_COUNT, sizeof(*rows));
	size_t count = 0;
	uint64_t most_ns = 0;
	for (size_t at = 0; at < histogram->rows;)
		at = add_class(histogram, at, histogram->rows > ROWS_MAX, rows, &count);
	size_t labels = strlen(title);
	for (size_t i = 0; i < count; i++) {
		char *label = label_row(&rows[i]);
		labels = strlen(label) > labels ? strlen(label) : labels;
		most_ns = rows[i].ns > most_ns ? rows[i].ns : most_ns;
		free(label);
	}
	const size_t before = labels + sizeof("  Elapsed Time  Elapsed %  Utilization  ") - 1;
	size_t bar = BAR_MAX;
	if (width > 0 && width < before + BAR_MAX)
		bar = width >= before + BAR_MIN ? width - before : 0;
	fprintf(stream, "%*s  Elapsed Time  Elapsed %%  Utilization\n", (int)labels, title);
	for (size_t i = 0; i < count; i++) {
		char *label = label_row(&rows[i]);
		const char *use = concurrency_class_name(rows[i].use);
		bool has_bar = bar > 0 && rows[i].ns > 0;
		fprintf(stream, "%*s  %10.3f s  %7.1f %%  %-*s", (int)labels, label,
			(double)rows[i].ns / 1e9, table_percent(rows[i].ns, histogram->elapsed_ns),
			has_bar ? (int)sizeof("Utilization  ") - 1 : 0, use);
		if (has_bar)
			print_bar(rows[i].ns, most_ns, bar, stream);
		fputc('\n', stream);
		free(label);
	}
	free(rows);
}

#define LABEL "%-28s"

static void print_target(uint32_t target, FILE *stream)
{
	fprintf(stream, LABEL "%g logical CPU%s\n", "Target:", target / 1e3,
		target == 1000 ? "" : "s");
}

static void print_classes(const struct histogram *histogram, bool with_over, FILE *stream)
{
	bool is_first = true;
	for (unsigned use = 0; use < CONCURRENCY_CLASS_COUNT; use++) {
		uint64_t ns = concurrency_of_class(histogram->times, (enum concurrency_class)use,
						   histogram->target);
		if (use == CONCURRENCY_OVER && !with_over && ns == 0)
			continue;
		fprintf(stream, "%s%s %.1f %%", is_first ? "" : ", ",
			concurrency_class_name((enum concurrency_class)use),
			table_percent(ns, histogram->elapsed_ns));
		is_first = false;
	}
	fputc('\n', stream);
}

static void print_unsure(const struct concurrency *concurrency, FILE *stream)
{
	uint64_t unknown_ns = concurrency->state_ns[PROFILE_STATE_UNKNOWN];
	uint64_t life_ns = 0;
	for (unsigned state = 0; state < THREAD_STATE_COUNT; state++)
		life_ns += concurrency->state_ns[state];
	if (unknown_ns > life_ns / 2000)
		fprintf(stream,
			LABEL "%.3f s of the threads' time (%.1f %%), counted as not running\n",
			"Unknown:", (double)unknown_ns / 1e9, table_percent(unknown_ns, life_ns));
	if (concurrency->guessed_ns > 0)
		fprintf(stream, LABEL "%.3f s of the threads' time (%.1f %%): switches were lost\n",
			"Guessed:", (double)concurrency->guessed_ns / 1e9,
			table_percent(concurrency->guessed_ns, life_ns));
}

static void print_as_text(const struct concurrency *concurrency, uint32_t target, FILE *stream,
			  unsigned width)
{
	const struct histogram cpus =
		begin_histogram(&concurrency->running, concurrency->elapsed_ns, target);
	const struct histogram threads =
		begin_histogram(&concurrency->active, concurrency->elapsed_ns, target);
	double average = concurrency_average(cpus.times);
	fprintf(stream, LABEL "%.3f s\n", "Elapsed Time:", (double)cpus.elapsed_ns / 1e9);
	if (concurrency->paused_ns > 0)
		fprintf(stream, LABEL "%.3f s, in none of the rows\n",
			"Paused Time:", (double)concurrency->paused_ns / 1e9);
	print_target(target, stream);
	fprintf(stream, LABEL "%.1f %% (%.3f of %g logical CPUs)\n",
		"Effective CPU Utilization:", average * 1e5 / target, average, target / 1e3);
	fprintf(stream, LABEL, "  elapsed:");
	print_classes(&cpus, false, stream);
	fprintf(stream, LABEL "%.3f\n",
		"Average Thread Concurrency:", concurrency_average(threads.times));
	fprintf(stream, LABEL, "  elapsed:");
	print_classes(&threads, true, stream);
	print_unsure(concurrency, stream);
	fputs("\n" CPUS_TITLE "\n", stream);
	print_rows(&cpus, "CPUs", stream, width);
	fputs("\nThread Concurrency: threads that ran or could run at once\n", stream);
	print_rows(&threads, "Threads", stream, width);
}

/* ---- Data ---- */

static const struct table_column cpu_columns[] = {
	{CPUS_TITLE, "cpus", TABLE_COUNT, TABLE_ALL},
	{"Elapsed Time", "elapsed_s", TABLE_SECONDS, TABLE_ALL},
	{"Utilization", "utilization", TABLE_TEXT, TABLE_ALL},
};
static const struct table_column thread_columns[] = {
	{THREADS_TITLE, "threads", TABLE_COUNT, TABLE_ALL},
	{"Elapsed Time", "elapsed_s", TABLE_SECONDS, TABLE_ALL},
	{"Utilization", "utilization", TABLE_TEXT, TABLE_ALL},
};

static void print_table(const struct report_input *input, const struct histogram *histogram,
			FILE *stream, unsigned width)
{
	struct table table;
	table_init(&table, input->options->by_threads ? thread_columns : cpu_columns, 3);
	for (size_t i = 0; i < histogram->rows; i++) {
		struct table_cell *cells = table_add_row(&table);
		cells[0].number = i;
		cells[1].number = time_of(histogram, i);
		cells[2].text = concurrency_class_name(concurrency_classify(i, histogram->target));
	}
	input->options->format->print(&table, stream, width);
	table_finish(&table);
}

static struct json_object *seconds_of(uint64_t ns)
{
	char text[TABLE_NUMBER_SIZE];
	table_number(TABLE_SECONDS, &(struct table_cell){.number = ns}, text);
	return json_object_new_double_s(0, text);
}

static struct json_object *real_of(double value)
{
	char text[TABLE_NUMBER_SIZE];
	snprintf(text, sizeof(text), "%.6f", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *rows_of(const struct histogram *histogram, const char *key)
{
	struct json_object *rows = json_object_new_array();
	for (size_t i = 0; i < histogram->rows; i++) {
		struct json_object *row = json_object_new_object();
		json_object_object_add(row, key, json_object_new_uint64(i));
		json_object_object_add(row, "elapsed_s", seconds_of(time_of(histogram, i)));
		json_object_object_add(row, "utilization",
				       json_object_new_string(concurrency_class_name(
					       concurrency_classify(i, histogram->target))));
		json_object_array_add(rows, row);
	}
	return rows;
}

static void print_as_json(const struct concurrency *concurrency, uint32_t target, FILE *stream)
{
	const struct histogram cpus =
		begin_histogram(&concurrency->running, concurrency->elapsed_ns, target);
	const struct histogram threads =
		begin_histogram(&concurrency->active, concurrency->elapsed_ns, target);
	struct json_object *object = json_object_new_object();
	if (!object)
		xalloc_fail();
	json_object_object_add(object, "elapsed_s", seconds_of(concurrency->elapsed_ns));
	json_object_object_add(object, "paused_s", seconds_of(concurrency->paused_ns));
	json_object_object_add(object, "target_cpus", real_of(target / 1e3));
	json_object_object_add(object, "average_cpus", real_of(concurrency_average(cpus.times)));
	json_object_object_add(object, "average_threads",
			       real_of(concurrency_average(threads.times)));
	json_object_object_add(object, "unknown_s",
			       seconds_of(concurrency->state_ns[PROFILE_STATE_UNKNOWN]));
	json_object_object_add(object, "guessed_s", seconds_of(concurrency->guessed_ns));
	json_object_object_add(object, "utilization", rows_of(&cpus, "cpus"));
	json_object_object_add(object, "concurrency", rows_of(&threads, "threads"));
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_SPACED |
							     JSON_C_TO_STRING_NOSLASHESCAPE),
	      stream);
	fputc('\n', stream);
	json_object_put(object);
}

TBRW_U32 report_utilization_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct concurrency concurrency;
	uint32_t target = report_target(input);
	TBRW_U32 code =
		concurrency_collect(&concurrency, input->reader, &input->options->filter, target);
	if (code != VT_SUCCESS)
		return code;
	const struct histogram histogram =
		begin_histogram(input->options->by_threads ? &concurrency.active
							   : &concurrency.running,
				concurrency.elapsed_ns, target);
	if (input->options->format->id == TABLE_FORMAT_TEXT)
		print_as_text(&concurrency, target, stream, width);
	else if (input->options->format->id == TABLE_FORMAT_JSON)
		print_as_json(&concurrency, target, stream);
	else
		print_table(input, &histogram, stream, width);
	concurrency_finish(&concurrency);
	return VT_SUCCESS;
}
