#include "tools/cli/path.h"
#include "tools/cli/xalloc.h"
#include "tools/report/groups.h"
#include "tools/report/report.h"
#include <stdlib.h>

enum {
	COLUMN_FUNCTION,
	COLUMN_CPU,
	COLUMN_SHARE,
	COLUMN_ERROR,
	COLUMN_SAMPLES,
	COLUMN_MODULE,
	COLUMN_FULL,
	COLUMN_FILE,
	COLUMN_START,
	COLUMN_PATH,
	COLUMN_COUNT
};

static const struct table_column function_columns[COLUMN_COUNT] = {
	[COLUMN_FUNCTION] = {"Function", "function", TABLE_NAME, TABLE_ALL},
	[COLUMN_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_ERROR] = REPORT_ERROR_COLUMN,
	[COLUMN_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_ALL},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_FULL] = {"Function (Full)", "function_full", TABLE_NAME, TABLE_DATA},
	[COLUMN_FILE] = {"Source File", "source_file", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL},
	[COLUMN_START] = {"Start Address", "start_address", TABLE_ADDRESS, TABLE_DATA},
	[COLUMN_PATH] = {"Source Path", "source_path", TABLE_TEXT, TABLE_KEYED},
};

/* Own time of each function, as groups without labels whose index is the function's. */
static struct group *sum_functions(const struct report_input *input, size_t *count)
{
	uint32_t functions = functions_count(input->functions);
	struct group *sums = xalloc_zeroed(functions, sizeof(*sums));
	struct report_entries at = {.input = input, .with_chain = true};
	while (report_next_entry(&at))
		draws_add_part(&sums[at.leaf].sum, &at.entry->sum);
	*count = 0;
	for (uint32_t i = 0; i < functions; i++) {
		if (sums[i].sum.samples == 0 && sums[i].sum.cpu_ns == 0)
			continue;
		sums[*count] = sums[i];
		sums[(*count)++].index = i;
	}
	return sums;
}

static int compare_sums(const void *a, const void *b, void *user)
{
	const struct group *left = a;
	const struct group *right = b;
	const uint32_t *rank = user;
	if (left->sum.cpu_ns != right->sum.cpu_ns)
		return left->sum.cpu_ns < right->sum.cpu_ns ? 1 : -1;
	if (left->sum.samples != right->sum.samples)
		return left->sum.samples < right->sum.samples ? 1 : -1;
	return rank[left->index] < rank[right->index] ? -1 : 1;
}

static void add_function_row(const struct report_input *input, const struct group *group,
			     uint64_t total_ns, struct table *table)
{
	const struct draws_part *sum = &group->sum;
	const struct function *function = functions_at(input->functions, group->index);
	struct table_cell *row = table_add_row(table);
	row[COLUMN_FUNCTION].text = function->name;
	row[COLUMN_CPU].number = sum->cpu_ns;
	row[COLUMN_SHARE].number = table_share(sum->cpu_ns, total_ns);
	report_set_error(&row[COLUMN_ERROR], sum, &input->tally.draws, total_ns);
	row[COLUMN_SAMPLES].number = sum->samples;
	row[COLUMN_MODULE].text = functions_module_of(input->functions, group->index)->name;
	row[COLUMN_FULL].text = function->full;
	row[COLUMN_FILE].text = path_base_name(function->file);
	row[COLUMN_START].number = function->start;
	row[COLUMN_START].is_unknown = function->start == 0;
	row[COLUMN_PATH].text = function->file;
}

static void add_no_sample_row(const struct tally *tally, uint64_t total_ns, struct table *table)
{
	struct table_cell *row = table_add_row(table);
	row[COLUMN_FUNCTION].text = REPORT_NO_SAMPLE;
	row[COLUMN_CPU].number = tally->rest_ns;
	row[COLUMN_SHARE].number = table_share(tally->rest_ns, total_ns);
	row[COLUMN_MODULE].text = "[Unknown]";
	row[COLUMN_FULL].text = REPORT_NO_SAMPLE;
	row[COLUMN_ERROR].is_unknown = true;
	row[COLUMN_START].is_unknown = true;
}

void report_hotspots_fill(const struct report_input *input, uint32_t limit, struct table *table)
{
	size_t count;
	struct group *sums = sum_functions(input, &count);
	uint64_t total_ns = input->tally.cpu_ns + input->tally.rest_ns;
	bool rest_pending = report_shows_no_sample(&input->tally);
	if (count > 1)
		qsort_r(sums, count, sizeof(*sums), compare_sums, (void *)(uintptr_t)input->rank);
	table_init(table, function_columns, COLUMN_COUNT);
	size_t next = 0;
	while ((next < count || rest_pending) && (limit == 0 || table->row_count < limit)) {
		if (rest_pending &&
		    (next == count || sums[next].sum.cpu_ns < input->tally.rest_ns)) {
			add_no_sample_row(&input->tally, total_ns, table);
			rest_pending = false;
		} else {
			add_function_row(input, &sums[next++], total_ns, table);
		}
	}
	free(sums);
}

void report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct table table;
	if (input->options->group != REPORT_GROUP_FUNCTION) {
		report_groups_print(input, stream, width);
		return;
	}
	report_hotspots_fill(input, input->options->limit, &table);
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
}
