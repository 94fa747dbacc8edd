/* The report diff of more than two results, and how results are read for it. */
#include "tools/cli/arguments.h"
#include "tools/diff/matched.h"
#include "tools/diff/report_diff.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/stacks/sampled_result.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <stdlib.h>
#include <string.h>

static uint64_t most_of(const struct matched *matched, uint32_t row)
{
	uint64_t most_ns = 0;
	for (size_t run = 0; run < matched->run_count; run++) {
		uint64_t cpu_ns = matched_parts(matched, row)[run].cpu_ns;
		most_ns = cpu_ns > most_ns ? cpu_ns : most_ns;
	}
	return most_ns;
}

static int compare_most(const void *a, const void *b, void *user)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	uint64_t left_ns = most_of(user, left);
	uint64_t right_ns = most_of(user, right);
	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	return (left > right) - (left < right);
}

/* The name in front, a column for each run, the module last. The texts are for the caller to free.
 */
static struct table_column *make_columns(const struct matched *matched,
					 const struct report_options *options, char **texts)
{
	size_t runs = matched->run_count;
	struct table_column *columns = xalloc_zeroed(runs + 2, sizeof(*columns));
	bool has_module = matched->by == REPORT_GROUP_FUNCTION || matched->by == REPORT_GROUP_STACK;
	columns[0] = matched_column(matched->by);
	for (size_t run = 0; run < runs; run++) {
		texts[2 * run] = xalloc_text(path_base_name(options->runs[run]));
		texts[2 * run + 1] = xalloc_printf("run_%zu_cpu_time_s", run + 1);
		columns[run + 1] = (struct table_column){texts[2 * run], texts[2 * run + 1],
							 TABLE_SECONDS, TABLE_ALL};
	}
	columns[runs + 1] =
		(struct table_column){"Module", "module", TABLE_TEXT, has_module ? TABLE_ALL : 0};
	return columns;
}

static void add_times(const struct matched *matched, const struct draws_part *parts,
		      struct table_cell *row)
{
	for (size_t run = 0; run < matched->run_count; run++)
		row[run + 1].number = parts[run].cpu_ns;
}

void report_runs_print(const struct matched *matched, const struct report_options *options,
		       FILE *stream, unsigned width, char **problem)
{
	uint32_t count = matched_count(matched);
	char **texts = xalloc_zeroed(2 * matched->run_count, sizeof(*texts));
	char **names = xalloc_zeroed(count, sizeof(*names));
	uint32_t *order = xalloc_zeroed(count, sizeof(*order));
	struct table_column *columns = make_columns(matched, options, texts);
	struct table table;
	table_init(&table, columns, matched->run_count + 2);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_most, (void *)(uintptr_t)matched);
	struct table_cell *total = table_add_row(&table);
	total[0].text = "[Total]";
	add_times(matched, matched->totals, total);
	for (uint32_t i = 0; i < count && (options->limit == 0 || i < options->limit); i++) {
		if (most_of(matched, order[i]) == 0)
			break;
		struct table_cell *row = table_add_row(&table);
		row[0].text = names[i] = matched_name(matched, order[i]);
		add_times(matched, matched_parts(matched, order[i]), row);
		row[matched->run_count + 1].text =
			matched_text(matched, matched->rows[order[i]].module);
	}
	*problem = report_sort_table(options, &table, 1);
	if (!*problem)
		options->format->print(&table, stream, width);
	table_finish(&table);
	for (size_t i = 0; i < 2 * matched->run_count; i++)
		free(texts[i]);
	for (uint32_t i = 0; i < count; i++)
		free(names[i]);
	free(texts);
	free(names);
	free(order);
	free(columns);
}

/* Returns 0, or the exit status after a message. Results of time and of events are not compared. */
static int check_event(const struct profile_reader *reader, const char *path, char **event)
{
	const char *own = profile_reader_counted_event(reader);
	if (*event && strcmp(*event, own ? own : "") != 0) {
		diagnose("%s: its samples are of %s, those before of %s; choose with --event", path,
			 own ? own : "CPU time", **event ? *event : "CPU time");
		return EXIT_FAILURE;
	}
	if (!*event)
		*event = xalloc_text(own ? own : "");
	return 0;
}

/* Returns 0, or the exit status after a message. */
static int open_run(struct sampled_result *result, const char *path, unsigned by,
		    const struct report_options *options, char **event)
{
	struct profile_reader *reader;
	int status = arguments_open_result(path, path, &reader);
	if (status != 0)
		return status;
	status = sampled_result_choose_event(reader, path, options->event);
	if (status == 0)
		status = check_event(reader, path, event);
	if (status != 0) {
		profile_reader_close(reader);
		return status;
	}
	return sampled_result_collect(result, reader, path, &options->filter, by,
				      options->with_inlined);
}

static int add_run(struct matched *const *matched, size_t count, size_t run,
		   const struct report_options *options, char **event)
{
	struct sampled_result result;
	char *path = NULL;
	unsigned by = 0;
	for (size_t i = 0; i < count; i++)
		by |= report_tally_by(matched[i]->by);
	int status = arguments_find_result(options->runs[run], NULL, &path);
	if (status == 0)
		status = open_run(&result, path, by, options, event);
	if (status == 0) {
		const struct report_input input = {.reader = result.reader,
						   .path = path,
						   .options = options,
						   .functions = result.functions,
						   .tally = result.tally};
		if (!profile_reader_complete(result.reader))
			diagnose("%s: incomplete, the collection did not end; this is what was "
				 "written until then",
				 path);
		for (size_t i = 0; i < count; i++)
			matched_add_run(matched[i], run, &input);
		sampled_result_close(&result);
	}
	free(path);
	return status;
}

int report_diff_read(struct matched *const *matched, size_t count,
		     const struct report_options *options)
{
	char *event = NULL;
	int status = 0;
	for (size_t run = 0; run < options->run_count && status == 0; run++)
		status = add_run(matched, count, run, options, &event);
	free(event);
	return status;
}

int report_diff_judge(const struct report_options *options, bool is_slower)
{
	if (!is_slower)
		return 0;
	diagnose("diff: slower by more than %g %% (--fail-above)", options->fail_above / 1e4);
	return DIFF_EXIT_SLOWER;
}

static int print(const struct matched *matched, const struct report_options *options)
{
	struct output output;
	bool is_slower = false;
	char *problem = NULL;
	int status = arguments_open_output(&output, options->output);
	if (status != 0)
		return status;
	unsigned width = options->width ? options->width : output_width(&output);
	output_page(&output);
	if (options->base_count == 0 && matched->run_count > 2)
		report_runs_print(matched, options, output.stream, width, &problem);
	else
		is_slower = report_diff_print(matched, options, output.stream, width, &problem)
				    .is_slower;
	if (problem)
		output_abandon(&output);
	else
		status = arguments_finish_output(&output, options->output);
	if (problem) {
		diagnose("%s", problem);
		status = EXIT_USAGE;
	}
	free(problem);
	return status == 0 ? report_diff_judge(options, is_slower) : status;
}

int report_diff_run(const struct report_options *options)
{
	struct matched matched;
	struct matched *one = &matched;
	matched_init(&matched, options->group, options->run_count);
	int status = report_diff_read(&one, 1, options);
	if (status == 0)
		status = print(&matched, options);
	matched_finish(&matched);
	return status;
}
