#include "tools/diff/report_diff.h"

#include "tools/diff/comparison.h"
#include "tools/diff/matched.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_NAME,
	COLUMN_BASE,
	COLUMN_NEW,
	COLUMN_DIFFERENCE,
	COLUMN_CHANGE,
	COLUMN_ERROR,
	COLUMN_VERDICT,
	COLUMN_P,
	COLUMN_BASE_SAMPLES,
	COLUMN_SAMPLES,
	COLUMN_MODULE,
	COLUMN_FULL,
	COLUMN_COUNT
};

static const struct table_column diff_columns[COLUMN_COUNT] = {
	[COLUMN_NAME] = {"Function", "function", TABLE_NAME, TABLE_ALL},
	[COLUMN_BASE] = {"Base CPU Time", "base_cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_NEW] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_DIFFERENCE] = {"Difference", "difference_s", TABLE_DIFFERENCE, TABLE_ALL},
	[COLUMN_CHANGE] = {"Change", "change", TABLE_CHANGE, TABLE_ALL},
	[COLUMN_ERROR] = {"Change Std Error", "change_std_error", TABLE_ERROR, TABLE_ALL},
	[COLUMN_VERDICT] = {"Verdict", "verdict", TABLE_TEXT, TABLE_ALL},
	[COLUMN_P] = {"p Value", "p_value", TABLE_REAL, TABLE_DATA},
	[COLUMN_BASE_SAMPLES] = {"Base Samples", "base_samples", TABLE_COUNT, TABLE_DATA},
	[COLUMN_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_DATA},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_FULL] = {"Function (Full)", "function_full", TABLE_NAME, TABLE_DATA},
};

#define TOTAL_NAME "[Total]"

/* The columns of rows by function, or those that others have of them. */
static void choose_columns(enum report_group by, size_t name, size_t module, size_t full,
			   struct table_column *columns)
{
	columns[name] = matched_column(by);
	if (by == REPORT_GROUP_MODULE || by == REPORT_GROUP_THREAD)
		columns[module].audience = 0;
	if (by != REPORT_GROUP_FUNCTION)
		columns[full].audience = 0;
}

static double absolute_difference(const struct comparison_row *row)
{
	return fabs(row->new_ns - row->base_ns);
}

static int compare_rows(const void *a, const void *b, void *user)
{
	const struct comparison *comparison = user;
	uint32_t left_index = *(const uint32_t *)a;
	uint32_t right_index = *(const uint32_t *)b;
	const struct comparison_row *left = &comparison->rows[left_index];
	const struct comparison_row *right = &comparison->rows[right_index];
	bool left_differs = left->verdict != COMPARISON_UNSURE;
	bool right_differs = right->verdict != COMPARISON_UNSURE;
	if (left_differs != right_differs)
		return right_differs - left_differs;
	double more = absolute_difference(right) - absolute_difference(left);
	if (more != 0)
		return more > 0 ? 1 : -1;
	return (left_index > right_index) - (left_index < right_index);
}

/* What differs first, then by the difference. The caller frees it. */
static uint32_t *sort_rows(struct comparison *comparison)
{
	uint32_t *order = xalloc_zeroed(comparison->count, sizeof(*order));
	for (size_t i = 0; i < comparison->count; i++)
		order[i] = (uint32_t)i;
	if (comparison->count > 1)
		qsort_r(order, comparison->count, sizeof(*order), compare_rows, comparison);
	return order;
}

/* In parts of 10^6, at most a millionfold. */
static int64_t change_of(const struct comparison_row *row)
{
	return (int64_t)llround(expm1(fmin(row->change, log(1e6))) * 1e6);
}

static void fill_row(const struct comparison_row *from, struct table_cell *row)
{
	static const char *const verdicts[] = {
		[COMPARISON_UNSURE] = "",       [COMPARISON_FASTER] = "faster",
		[COMPARISON_SLOWER] = "slower", [COMPARISON_GONE] = "gone",
		[COMPARISON_NEW] = "new",
	};
	bool has_both = from->base_ns > 0 && from->new_ns > 0;
	row[COLUMN_BASE].number = (uint64_t)llround(from->base_ns);
	row[COLUMN_NEW].number = (uint64_t)llround(from->new_ns);
	row[COLUMN_DIFFERENCE].number = (uint64_t)llround(from->new_ns - from->base_ns);
	row[COLUMN_CHANGE].number = (uint64_t)change_of(from);
	row[COLUMN_CHANGE].is_unknown = !has_both;
	row[COLUMN_ERROR].number =
		(uint64_t)llround(fmin(from->error * exp(from->change), 1e6) * 1e6);
	row[COLUMN_ERROR].is_unknown = !has_both || !from->has_error;
	row[COLUMN_VERDICT].text = verdicts[from->verdict];
	table_set_real(&row[COLUMN_P], from->p);
	row[COLUMN_P].is_unknown = !from->has_error;
}

static uint64_t count_samples(const struct draws_part *parts, size_t first, size_t end)
{
	uint64_t samples = 0;
	for (size_t run = first; run < end; run++)
		samples += parts[run].samples;
	return samples;
}

static void add_row(const struct matched *matched, size_t base_runs, const struct draws_part *parts,
		    const struct comparison_row *from, struct table_cell *row)
{
	fill_row(from, row);
	row[COLUMN_BASE_SAMPLES].number = count_samples(parts, 0, base_runs);
	row[COLUMN_SAMPLES].number = count_samples(parts, base_runs, matched->run_count);
}

static bool has_time(const struct matched *matched, uint32_t row)
{
	for (size_t run = 0; run < matched->run_count; run++)
		if (matched_parts(matched, row)[run].cpu_ns > 0)
			return true;
	return false;
}

/* A new function counts by its part of the base's time. */
static bool is_too_slow(const struct comparison_row *row, const struct comparison *comparison,
			const struct report_options *options)
{
	double limit = options->fail_above / 1e6;
	if (!options->has_fail_above)
		return false;
	if (row->verdict == COMPARISON_NEW)
		return row->new_ns > limit * comparison->total.base_ns;
	return row->verdict == COMPARISON_SLOWER && expm1(row->change) > limit;
}

/* What the table is to be read with. */
static void print_head(const struct comparison *comparison, size_t base_runs, size_t new_runs,
		       FILE *stream)
{
	const struct comparison_row *total = &comparison->total;
	double percent = total->base_ns > 0 ? 100 * (total->new_ns / total->base_ns - 1) : 0;
	fprintf(stream, "CPU Time: %.3f s, base %.3f s: %+.1f %%", total->new_ns / 1e9,
		total->base_ns / 1e9, percent);
	if (base_runs > 1 || new_runs > 1)
		fprintf(stream, " (means of %zu and %zu runs)", new_runs, base_runs);
	if (comparison->has_factor)
		fprintf(stream, "\nRows of one speed took %+.1f %%: changes are beyond that.\n",
			100 * (comparison->factor - 1));
	else if (base_runs < 2 || new_runs < 2)
		fputs("\nToo few rows with enough samples to tell a slower machine from a slower "
		      "program:\ncompare two or more runs of each side, see --base.\n",
		      stream);
	else
		fputc('\n', stream);
}

struct report_diff_outcome report_diff_print(const struct matched *matched,
					     const struct report_options *options, FILE *stream,
					     unsigned width, char **problem)
{
	size_t base_runs = report_diff_base_runs(options);
	struct table table;
	struct table_column columns[COLUMN_COUNT];
	struct comparison comparison;
	uint32_t count = matched_count(matched);
	char **names = xalloc_zeroed(count, sizeof(*names));
	memcpy(columns, diff_columns, sizeof(columns));
	choose_columns(matched->by, COLUMN_NAME, COLUMN_MODULE, COLUMN_FULL, columns);
	comparison_make(&comparison, matched->parts, matched->totals, count, base_runs,
			matched->run_count, matched->by == REPORT_GROUP_THREAD);
	uint32_t *order = sort_rows(&comparison);
	bool is_slower = is_too_slow(&comparison.total, &comparison, options);
	table_init(&table, columns, COLUMN_COUNT);
	struct table_cell *total = table_add_row(&table);
	add_row(matched, base_runs, matched->totals, &comparison.total, total);
	total[COLUMN_NAME].text = TOTAL_NAME;
	total[COLUMN_MODULE].text = "";
	total[COLUMN_FULL].text = TOTAL_NAME;
	for (uint32_t i = 0; i < count; i++) {
		const struct comparison_row *from = &comparison.rows[order[i]];
		is_slower |= is_too_slow(from, &comparison, options);
		if (!has_time(matched, order[i]) ||
		    (options->limit > 0 && table.row_count > options->limit))
			continue;
		struct table_cell *row = table_add_row(&table);
		add_row(matched, base_runs, matched_parts(matched, order[i]), from, row);
		names[i] = matched_name(matched, order[i]);
		row[COLUMN_NAME].text = names[i];
		row[COLUMN_MODULE].text = matched_text(matched, matched->rows[order[i]].module);
		row[COLUMN_FULL].text = matched_text(matched, matched->rows[order[i]].full);
	}
	*problem = report_sort_table(options, &table, 1);
	if (!*problem && options->format->id == TABLE_FORMAT_TEXT)
		print_head(&comparison, base_runs, matched->run_count - base_runs, stream);
	if (!*problem)
		options->format->print(&table, stream, width);
	for (uint32_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	free(order);
	table_finish(&table);
	const struct report_diff_outcome outcome = {is_slower, comparison.has_factor,
						    comparison.factor};
	comparison_finish(&comparison);
	return outcome;
}
