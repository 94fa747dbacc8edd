#include "tools/page/page_diff.h"

#include "tools/cli/arguments.h"
#include "tools/diff/matched.h"
#include "tools/diff/report_diff.h"
#include "tools/json/json_writer.h"
#include "tools/memory/xalloc.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_file.h"
#include "tools/report/report.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <math.h>
#include <stdlib.h>

struct page_diff {
	const struct report_options *options;
	struct matched functions;
	struct matched stacks;
	struct page_columns columns;
	char *rows; /* of functions, in JSON */
	size_t rows_size;
	struct report_diff_outcome outcome;
	char *problem; /* of the options; NULL: none */
};

/* A function of the tree: of that name in that module. */
struct diff_function {
	uint32_t full, module; /* texts of the stacks */
	uint32_t name;         /* likewise; not compared */
};

static bool is_function(const void *item, const void *wanted)
{
	const struct diff_function *function = item;
	const struct diff_function *other = wanted;
	return function->full == other->full && function->module == other->module;
}

struct diff_functions {
	struct index_map map;
	struct diff_function *list;
};

static uint32_t enter_function(struct diff_functions *functions, const struct matched_row *row)
{
	const struct diff_function wanted = {row->full, row->module, row->name};
	const uint32_t identity[] = {row->full, row->module};
	return index_map_enter(&functions->map, &functions->list, &wanted, sizeof(wanted),
			       index_map_hash(&functions->map, identity, sizeof(identity)),
			       is_function);
}

/* A side's time of a stack, and the mean weight of its samples by their squares. */
static void add_side(struct page_diff *page, const struct draws_part *parts, size_t first,
		     size_t end, enum page_column_id time)
{
	struct draws_part sum = {0};
	for (size_t run = first; run < end; run++)
		draws_add_part(&sum, &parts[run]);
	double weight = sum.draws.cpu_ns > 0 ? sum.draws.squares / (double)sum.draws.cpu_ns : 0;
	page_columns_add(&page->columns, time, sum.cpu_ns);
	page_columns_add(&page->columns, time + 1, (uint64_t)llround(weight));
}

static void add_nodes(struct page_diff *page, struct diff_functions *functions)
{
	const struct matched *stacks = &page->stacks;
	size_t base_runs = report_diff_base_runs(page->options);
	for (uint32_t i = 0; i < matched_count(stacks); i++) {
		const struct matched_row *row = &stacks->rows[i];
		const struct draws_part *parts = matched_parts(stacks, i);
		page_columns_add(&page->columns, PAGE_NODE_PARENT,
				 row->parent == MATCHED_NONE ? 0 : i - row->parent);
		page_columns_add(&page->columns, PAGE_NODE_FUNCTION,
				 enter_function(functions, row));
		add_side(page, parts, 0, base_runs, PAGE_DIFF_BASE_NS);
		add_side(page, parts, base_runs, stacks->run_count, PAGE_DIFF_NEW_NS);
	}
}

static void write_functions(const struct page_diff *page, const struct diff_functions *functions,
			    struct json_writer *json)
{
	const struct matched *stacks = &page->stacks;
	struct index_texts modules = {0};
	uint32_t count = index_map_count(&functions->map);
	json_open_array(json, "names");
	for (uint32_t i = 0; i < count; i++)
		json_write_text(json, NULL, matched_text(stacks, functions->list[i].name));
	json_close_array(json);
	json_open_array(json, "full");
	for (uint32_t i = 0; i < count; i++)
		json_write_text(json, NULL, matched_text(stacks, functions->list[i].full));
	json_close_array(json);
	json_open_array(json, "function.module");
	for (uint32_t i = 0; i < count; i++)
		json_write_number(json, NULL,
				  index_texts_enter(&modules,
						    matched_text(stacks,
								 functions->list[i].module)));
	json_close_array(json);
	json_open_array(json, "modules");
	for (uint32_t i = 0; i < index_texts_count(&modules); i++)
		json_write_text(json, NULL, modules.texts[i]);
	json_close_array(json);
	index_texts_finish(&modules);
}

static void write_runs(const struct page_diff *page, struct json_writer *json)
{
	const struct report_options *options = page->options;
	size_t base_runs = report_diff_base_runs(options);
	json_open_array(json, "base");
	for (size_t run = 0; run < base_runs; run++)
		json_write_text(json, NULL, path_base_name(options->runs[run]));
	json_close_array(json);
	json_open_array(json, "new");
	for (size_t run = base_runs; run < options->run_count; run++)
		json_write_text(json, NULL, path_base_name(options->runs[run]));
	json_close_array(json);
}

/* The factor in parts of 10^6. */
static void write_members(struct json_writer *json, void *user)
{
	struct page_diff *page = user;
	struct diff_functions functions = {0};
	json_open_object(json, "diff");
	write_runs(page, json);
	if (page->outcome.has_factor)
		json_write_number(json, "factor", (uint64_t)llround(page->outcome.factor * 1e6));
	json_write_raw(json, "rows", page->rows, page->rows_size);
	json_close_object(json);
	add_nodes(page, &functions);
	write_functions(page, &functions, json);
	index_map_finish(&functions.map);
	free(functions.list);
}

/* The rows as tbreport diff --format json has them. */
static void print_rows(struct page_diff *page)
{
	struct report_options options = *page->options;
	FILE *stream = open_memstream(&page->rows, &page->rows_size);
	if (!stream)
		xalloc_fail();
	options.format = table_format_find("json");
	options.limit = 0;
	options.sort = (struct report_sort){0};
	page->outcome = report_diff_print(&page->functions, &options, stream, 0, &page->problem);
	if (fclose(stream) != 0)
		xalloc_fail();
}

static int write_page(struct page_diff *page)
{
	struct output output;
	int status = arguments_open_output(&output, page->options->output);
	if (status != 0)
		return status;
	page_file_write(&page->columns, write_members, page, output.stream);
	status = arguments_finish_output(&output, page->options->output);
	return status == 0 ? report_diff_judge(page->options, page->outcome.is_slower) : status;
}

int page_diff_run(const struct report_options *options)
{
	struct page_diff page = {.options = options};
	struct matched *both[] = {&page.functions, &page.stacks};
	matched_init(&page.functions, REPORT_GROUP_FUNCTION, options->run_count);
	matched_init(&page.stacks, REPORT_GROUP_STACK, options->run_count);
	int status = report_diff_read(both, 2, options);
	if (status == 0) {
		print_rows(&page);
		if (page.problem)
			diagnose("%s", page.problem);
		status = page.problem ? EXIT_USAGE : write_page(&page);
	}
	free(page.rows);
	free(page.problem);
	page_columns_finish(&page.columns);
	matched_finish(&page.functions);
	matched_finish(&page.stacks);
	return status;
}
