/* The call tree from the root down, and from each function up to its callers. */
#include "tools/report/call_tree.h"
#include "tools/report/report.h"
#include <stdlib.h>

enum {
	COLUMN_STACK,
	COLUMN_TOTAL,
	COLUMN_SHARE,
	COLUMN_ERROR,
	COLUMN_SELF,
	COLUMN_SAMPLES,
	COLUMN_MODULE,
	COLUMN_PLACED_TOTAL, /* came later */
	COLUMN_COUNT
};

static const struct table_column top_down_columns[COLUMN_COUNT] = {
	[COLUMN_STACK] = {"Function Stack", "function", TABLE_TREE, TABLE_ALL},
	[COLUMN_TOTAL] = {"CPU Time", "cpu_time_total_s", TABLE_SECONDS, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_ERROR] = REPORT_ERROR_COLUMN,
	[COLUMN_SELF] = {"CPU Time:Self", "cpu_time_self_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SAMPLES] = {"Samples:Total", "samples_total", TABLE_COUNT, TABLE_KEYED},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_PLACED_TOTAL] = {"CPU Time:Total", "", TABLE_SECONDS, TABLE_PLACED | TABLE_OURS},
};

/* Going up, a caller's row says how much of the function's own time came by this way. */
static const struct table_column bottom_up_columns[COLUMN_COUNT] = {
	[COLUMN_STACK] = {"Function Stack", "function", TABLE_TREE, TABLE_ALL},
	[COLUMN_TOTAL] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[COLUMN_ERROR] = REPORT_ERROR_COLUMN,
	[COLUMN_SELF] = {"", "", TABLE_SECONDS, 0},
	[COLUMN_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_KEYED},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
	[COLUMN_PLACED_TOTAL] = {"", "", TABLE_SECONDS, 0},
};

#define TERMINAL_SHARE_MIN 1000u /* 0.1 %: least share in a tree on a terminal */

static void build_tree(const struct report_input *input, bool is_bottom_up, struct call_tree *tree)
{
	struct weighted_stacks at = report_stacks(input, true);
	call_tree_init(tree);
	while (weighted_stacks_next(&at))
		call_tree_add(tree, at.call_path.functions, at.call_path.count, is_bottom_up,
			      &at.entry->sum);
}

static void add_row(const struct report_input *input, const struct call_tree_node *node,
		    const struct draws *drawn, uint32_t depth, uint64_t all_ns, struct table *table)
{
	struct table_cell *row = table_add_row(table);
	bool is_root = node->function == CALL_TREE_NONE;
	row[COLUMN_STACK].text =
		is_root ? "Total" : functions_at(input->functions, node->function)->name;
	row[COLUMN_STACK].depth = depth;
	row[COLUMN_TOTAL].number = is_root ? all_ns : node->total.cpu_ns;
	row[COLUMN_PLACED_TOTAL] = row[COLUMN_TOTAL];
	row[COLUMN_SHARE].number = table_share(row[COLUMN_TOTAL].number, all_ns);
	report_set_error(&row[COLUMN_ERROR], &node->total, drawn, all_ns);
	row[COLUMN_ERROR].is_unknown |= is_root;
	row[COLUMN_SELF].number = node->self.cpu_ns;
	row[COLUMN_SAMPLES].number = node->total.samples;
	row[COLUMN_MODULE].text =
		is_root ? "" : functions_dso_of(input->functions, node->function)->name;
}

static void print_tree(const struct report_input *input, bool is_bottom_up, FILE *stream,
		       unsigned width)
{
	struct call_tree tree;
	struct table table;
	size_t count;
	build_tree(input, is_bottom_up, &tree);
	/* Samples left out by a filter on functions are no part of the tree's total. */
	uint64_t all_ns = tree.nodes[0].total.cpu_ns + input->tally.rest_ns;
	size_t limit = input->options->limit;
	uint32_t root_rows = is_bottom_up ? 0 : 1;
	struct call_tree_row *rows =
		call_tree_rows(&tree, input->rank, limit && is_bottom_up ? limit + 1 : limit,
			       &count);
	table_init(&table, is_bottom_up ? bottom_up_columns : top_down_columns, COLUMN_COUNT);
	for (size_t i = 0; i < count; i++) {
		uint32_t depth = rows[i].depth;
		if (depth > 0 || !is_bottom_up)
			add_row(input, &tree.nodes[rows[i].node], &tree.nodes[0].total.draws,
				depth - 1 + root_rows, all_ns, &table);
	}
	if (report_shows_no_sample(&input->tally) && (limit == 0 || table.row_count < limit)) {
		struct table_cell *row = table_add_row(&table);
		row[COLUMN_STACK].text = TALLY_NO_SAMPLE;
		row[COLUMN_STACK].depth = root_rows;
		row[COLUMN_TOTAL].number = input->tally.rest_ns;
		row[COLUMN_PLACED_TOTAL] = row[COLUMN_TOTAL];
		row[COLUMN_SHARE].number = table_share(input->tally.rest_ns, all_ns);
		row[COLUMN_ERROR].is_unknown = true;
		row[COLUMN_SELF].number = input->tally.rest_ns;
		row[COLUMN_MODULE].text = "[Unknown]";
	}
	report_print_table(input, &table, input->is_on_terminal ? TERMINAL_SHARE_MIN : 0, stream,
			   width);
	table_finish(&table);
	free(rows);
	call_tree_finish(&tree);
}

TBRW_U32 report_top_down_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_tree(input, false, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_bottom_up_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_tree(input, true, stream, width);
	return VT_SUCCESS;
}
