/* The wall-clock account: a tree for each thread of what it did in its life. */
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/report/call_tree.h"
#include "tools/report/report.h"
#include "tools/waits/wall.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
	COLUMN_STACK,
	COLUMN_SHOWN_TOTAL,
	COLUMN_SHARE,
	COLUMN_SHOWN_SELF,
	COLUMN_SELF,
	COLUMN_COUNT_OF,
	COLUMN_MODULE,
	COLUMN_TOTAL,
	COLUMN_COUNT
};

/* For people as elsewhere; data to the ns, so that sums are exact. */
static const struct table_column wall_columns[COLUMN_COUNT] = {
	[COLUMN_STACK] = {"Function Stack", "function", TABLE_TREE, TABLE_ALL},
	[COLUMN_SHOWN_TOTAL] = {"Wall Time", "", TABLE_SECONDS, TABLE_SHOWN},
	[COLUMN_SHARE] = {"Wall %", "wall_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_SHOWN_SELF] = {"Wall Time:Self", "", TABLE_SECONDS, TABLE_SHOWN},
	[COLUMN_SELF] = {"Wall Time:Self", "wall_time_self_s", TABLE_DURATION, TABLE_DATA},
	[COLUMN_COUNT_OF] = {"Wait Count", "wait_count", TABLE_COUNT, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_TOTAL] = {"Wall Time:Total", "wall_time_total_s", TABLE_DURATION,
			  TABLE_DATA | TABLE_LATER},
};

#define TERMINAL_SHARE_MIN 1000u /* 0.1 %: least share in a tree on a terminal */

/* In the place of functions, behind all of them. */
enum label {
	LABEL_RUNNING,
	LABEL_READY,
	LABEL_SHORT,
	LABEL_STOPPED,
	LABEL_UNKNOWN,
	LABEL_NO_SAMPLE,
	LABEL_TYPES, /* those of waits, by type; then objects by item, threads by index */
};

static const char *const label_texts[LABEL_TYPES] = {
	[LABEL_RUNNING] = "[Running]",       [LABEL_READY] = WALL_READY,
	[LABEL_STOPPED] = WALL_STOPPED,      [LABEL_UNKNOWN] = WALL_UNKNOWN,
	[LABEL_NO_SAMPLE] = TALLY_NO_SAMPLE,
};

struct wall_report {
	const struct report_input *input;
	struct wall wall;
	struct call_tree tree;
	uint32_t functions; /* number */
	char **labels;
	uint32_t label_count;
	uint32_t *path; /* of a stack: thread, state, functions, object */
	size_t capacity;
	struct call_path call_path; /* scratch */
};

static uint32_t first_item(void)
{
	return LABEL_TYPES + WAIT_TYPE_COUNT;
}

static uint32_t first_thread(const struct wall_report *report)
{
	return first_item() + (uint32_t)report->wall.waits.item_count;
}

static char *name_thread(const struct wall_report *report, uint32_t index)
{
	const struct profile_reader *reader = report->input->reader;
	if (index == report->wall.thread_count)
		return xalloc_text(TALLY_NO_THREAD);
	const struct profile_thread_info *thread = profile_reader_thread(reader, index);
	return xalloc_printf("%s (TID %" PRIu32 ")", thread->name[0] ? thread->name : "[Unknown]",
			     thread->tid);
}

static void name_labels(struct wall_report *report)
{
	const struct waits *waits = &report->wall.waits;
	report->functions = functions_count(report->input->functions);
	report->label_count = first_thread(report) + report->wall.thread_count + 1;
	report->labels = xalloc_zeroed(report->label_count, sizeof(*report->labels));
	for (uint32_t i = 0; i < LABEL_TYPES; i++)
		report->labels[i] =
			xalloc_text(i == LABEL_SHORT ? report->wall.short_label : label_texts[i]);
	for (uint32_t i = 0; i < WAIT_TYPE_COUNT; i++)
		report->labels[LABEL_TYPES + i] =
			xalloc_printf("[%s]", wait_type_name((enum wait_type)i));
	for (uint32_t i = 0; i < waits->item_count; i++)
		report->labels[first_item() + i] = xalloc_text(waits->items[i].name);
	for (uint32_t i = 0; i <= report->wall.thread_count; i++)
		report->labels[first_thread(report) + i] = name_thread(report, i);
}

static void start_path(struct wall_report *report, size_t functions, uint32_t thread,
		       uint32_t label)
{
	xalloc_room(&report->path, &report->capacity, functions + 3, sizeof(*report->path));
	report->path[0] = report->functions + first_thread(report) + thread;
	report->path[1] = report->functions + label;
}

static void add_state(struct wall_report *report, uint32_t thread, uint32_t label, uint64_t ns,
		      uint64_t count)
{
	const struct draws_part part = {.cpu_ns = ns, .samples = count};
	if (ns == 0 && count == 0)
		return;
	start_path(report, 0, thread, label);
	call_tree_add(&report->tree, report->path, 2, false, &part);
}

/* below: a label under the stack's leaf; 0: none. */
static void add_path(struct wall_report *report, const struct call_path *stack, uint32_t thread,
		     uint32_t label, uint32_t below, const struct draws_part *part)
{
	size_t count = stack->count + 2;
	start_path(report, stack->count, thread, label);
	for (size_t i = 0; i < stack->count; i++)
		report->path[i + 2] = stack->functions[i];
	if (below)
		report->path[count++] = report->functions + below;
	call_tree_add(&report->tree, report->path, count, false, part);
}

static void add_waits(struct wall_report *report)
{
	const struct report_input *input = report->input;
	const struct waits *waits = &report->wall.waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *entry = &waits->entries[i];
		const struct draws_part part = {.cpu_ns = report->wall.wait_ns[i],
						.samples = entry->sum.count};
		uint32_t thread =
			entry->thread == PROFILE_NONE ? report->wall.thread_count : entry->thread;
		uint32_t type = waits->items[entry->item].type;
		call_path_of_stack(&report->call_path, input->reader, input->functions, entry->node,
				   entry->state, input->options->mode);
		add_path(report, &report->call_path, thread, LABEL_TYPES + type,
			 first_item() + entry->item, &part);
	}
}

static void add_samples(struct wall_report *report)
{
	const struct wall *wall = &report->wall;
	struct weighted_stacks at = report_stacks(report->input, true);
	struct wall_running *running =
		wall_running_create(wall, &report->input->tally, &report->input->options->filter);
	while (weighted_stacks_next(&at)) {
		uint32_t thread =
			at.entry->thread == PROFILE_NONE ? wall->thread_count : at.entry->thread;
		const struct draws_part part = {.cpu_ns = wall_running_take(running, at.entry)};
		if (part.cpu_ns > 0)
			add_path(report, &at.call_path, thread, LABEL_RUNNING, 0, &part);
	}
	for (uint32_t i = 0; i <= wall->thread_count; i++) {
		const struct call_path no_sample = {.functions = &(uint32_t){report->functions +
									     LABEL_NO_SAMPLE},
						    .count = 1};
		const struct draws_part part = {.cpu_ns = wall_running_rest(running, i)};
		if (part.cpu_ns > 0)
			add_path(report, &no_sample, i, LABEL_RUNNING, 0, &part);
	}
	wall_running_destroy(running);
}

/* A filter on functions or tasks asks for a part, and such times are in none. */
static void add_states(struct wall_report *report)
{
	const struct filter *filter = &report->input->options->filter;
	const struct wall *wall = &report->wall;
	for (uint32_t i = 0; i <= wall->thread_count; i++) {
		const struct wall_thread *thread = &wall->threads[i];
		if (filter_needs_function(filter) || filter_has_tasks(filter))
			continue;
		add_state(report, i, LABEL_READY, thread->ready_ns, 0);
		add_state(report, i, LABEL_SHORT, thread->short_ns, thread->short_count);
		add_state(report, i, LABEL_STOPPED, thread->stopped_ns, 0);
		add_state(report, i, LABEL_UNKNOWN, thread->unknown_ns, 0);
	}
}

static void add_row(const struct wall_report *report, const struct call_tree_row *at,
		    struct table *table)
{
	const struct functions *functions = report->input->functions;
	const struct call_tree_node *node = &report->tree.nodes[at->node];
	struct table_cell *row = table_add_row(table);
	bool is_root = node->function == CALL_TREE_NONE;
	bool is_function = node->function < report->functions;
	row[COLUMN_STACK].depth = at->depth;
	row[COLUMN_MODULE].text = "";
	if (is_root) {
		row[COLUMN_STACK].text = "Total";
	} else if (is_function) {
		row[COLUMN_STACK].text = functions_at(functions, node->function)->name;
		row[COLUMN_MODULE].text = functions_dso_of(functions, node->function)->name;
	} else {
		row[COLUMN_STACK].text = report->labels[node->function - report->functions];
	}
	row[COLUMN_TOTAL].number = node->total.cpu_ns;
	row[COLUMN_SHOWN_TOTAL] = row[COLUMN_TOTAL];
	row[COLUMN_SHARE].number =
		table_share(node->total.cpu_ns, report->tree.nodes[0].total.cpu_ns);
	row[COLUMN_SELF].number = node->self.cpu_ns;
	row[COLUMN_SHOWN_SELF] = row[COLUMN_SELF];
	row[COLUMN_COUNT_OF].number = node->total.samples;
}

static void print_tree(const struct wall_report *report, FILE *stream, unsigned width)
{
	const struct report_input *input = report->input;
	uint32_t *rank =
		xalloc_zeroed((size_t)report->functions + report->label_count, sizeof(*rank));
	struct table table;
	size_t count;
	for (uint32_t i = 0; i < report->functions; i++)
		rank[i] = input->rank[i];
	for (uint32_t i = 0; i < report->label_count; i++)
		rank[report->functions + i] = report->functions + i;
	struct call_tree_row *rows =
		call_tree_rows(&report->tree, rank, input->options->limit, &count);
	table_init(&table, wall_columns, COLUMN_COUNT);
	for (size_t i = 0; i < count; i++)
		add_row(report, &rows[i], &table);
	report_print_table(input, &table, input->is_on_terminal ? TERMINAL_SHARE_MIN : 0, stream,
			   width);
	table_finish(&table);
	free(rows);
	free(rank);
}

TBRW_U32 report_wall_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct wall_report report = {.input = input};
	TBRW_U32 code = wall_collect(&report.wall, input->reader, input->functions,
				     &input->options->filter, 0);
	if (code != VT_SUCCESS)
		return code;
	call_tree_init(&report.tree);
	name_labels(&report);
	add_samples(&report);
	add_waits(&report);
	add_states(&report);
	print_tree(&report, stream, width);
	call_tree_finish(&report.tree);
	call_path_finish(&report.call_path);
	for (uint32_t i = 0; i < report.label_count; i++)
		free(report.labels[i]);
	free(report.labels);
	free(report.path);
	wall_finish(&report.wall);
	return VT_SUCCESS;
}
