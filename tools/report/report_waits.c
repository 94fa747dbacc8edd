/* What threads waited for: rows of waits, or these with their stacks. */
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/report/call_tree.h"
#include "tools/report/report.h"
#include "tools/report/wait_rows.h"
#include <inttypes.h>
#include <stdlib.h>

enum value {
	VALUE_LABEL,
	VALUE_TYPE,
	VALUE_TID,
	VALUE_PROCESS,
	VALUE_PID,
	VALUE_WAIT,
	VALUE_SHARE,
	VALUE_COUNT,
	VALUE_POOR,
	VALUE_FUNCTION,
	VALUE_MODULE,
	VALUE_READY,
	VALUE_SPIN,
	VALUE_AVERAGE,
	VALUE_MOST,
	VALUE_TIMEOUTS,
	VALUE_SHORT_TIME,
	VALUE_SHORT_COUNT,
	VALUE_WAKER,
	VALUE_WAKER_MODULE,
	VALUE_CREATED,
	VALUE_BEFORE,
	VALUE_UNENDED,
};

#define BY(group) (1u << (group))
#define BY_OBJECT BY(REPORT_GROUP_OBJECT)
#define BY_ANY    (BY(REPORT_GROUP_COUNT) - 1)

/* In their order. */
static const struct wait_column {
	enum value value;
	unsigned groups; /* with the column */
	struct table_column column;
} wait_columns[] = {
	{VALUE_LABEL, BY_OBJECT, {"Sync Object", "sync_object", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_FUNCTION), {"Function", "function", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_THREAD), {"Thread", "thread", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL,
	 BY(REPORT_GROUP_WAKER),
	 {"Waker Function", "waker_function", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_TYPE), {"Type", "type", TABLE_TEXT, TABLE_ALL}},
	{VALUE_TYPE, BY_OBJECT, {"Type", "type", TABLE_TEXT, TABLE_DATA}},
	{VALUE_TID, BY(REPORT_GROUP_THREAD), {"TID", "tid", TABLE_ID, TABLE_ALL}},
	{VALUE_PROCESS, BY(REPORT_GROUP_THREAD), {"Process", "process", TABLE_TEXT, TABLE_ALL}},
	{VALUE_WAIT, BY_ANY, {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_ALL}},
	{VALUE_SHARE, BY_ANY, {"Wait %", "wait_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED}},
	{VALUE_COUNT, BY_ANY, {"Wait Count", "wait_count", TABLE_COUNT, TABLE_ALL}},
	{VALUE_POOR, BY_ANY, {"Poor Utilization", "", TABLE_SECONDS, TABLE_SHOWN | TABLE_OPTIONAL}},
	{VALUE_POOR,
	 BY_ANY,
	 {"Wait Time with poor CPU Utilization", "wait_time_poor_s", TABLE_SECONDS,
	  TABLE_DATA | TABLE_LATER}},
	{VALUE_SHORT_TIME,
	 BY(REPORT_GROUP_THREAD),
	 {"Short Wait Time", "short_wait_time_s", TABLE_SECONDS, TABLE_ALL}},
	{VALUE_SHORT_COUNT,
	 BY(REPORT_GROUP_THREAD),
	 {"Short Wait Count", "short_wait_count", TABLE_COUNT, TABLE_ALL}},
	{VALUE_AVERAGE,
	 BY_ANY,
	 {"Average", "average_s", TABLE_DURATION, TABLE_ALL | TABLE_LATER | TABLE_OPTIONAL}},
	{VALUE_MOST,
	 BY_ANY,
	 {"Maximum", "maximum_s", TABLE_DURATION, TABLE_ALL | TABLE_LATER | TABLE_OPTIONAL}},
	{VALUE_SPIN,
	 BY_ANY,
	 {"Spin Time", "spin_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER | TABLE_OPTIONAL}},
	{VALUE_READY,
	 BY_ANY,
	 {"Ready Time", "ready_time_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
	{VALUE_TIMEOUTS, BY_ANY, {"Timeouts", "timeouts", TABLE_COUNT, TABLE_DATA | TABLE_LATER}},
	{VALUE_FUNCTION,
	 BY_ANY & ~BY(REPORT_GROUP_FUNCTION),
	 {"Function", "function", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL}},
	{VALUE_MODULE,
	 BY_ANY & ~BY(REPORT_GROUP_WAKER),
	 {"Module", "module", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL}},
	{VALUE_WAKER,
	 BY_ANY & ~BY(REPORT_GROUP_WAKER),
	 {"Waker Function", "waker_function", TABLE_TEXT,
	  TABLE_ALL | TABLE_LATER | TABLE_OPTIONAL}},
	{VALUE_WAKER_MODULE,
	 BY_ANY,
	 {"Waker Module", "waker_module", TABLE_TEXT, TABLE_DATA | TABLE_LATER}},
	{VALUE_CREATED,
	 BY_OBJECT,
	 {"Created In", "created_in", TABLE_TEXT, TABLE_DATA | TABLE_LATER}},
	{VALUE_PID, BY_OBJECT, {"PID", "pid", TABLE_ID, TABLE_DATA | TABLE_LATER}},
	{VALUE_PID, BY(REPORT_GROUP_THREAD), {"PID", "pid", TABLE_ID, TABLE_DATA | TABLE_LATER}},
	{VALUE_BEFORE,
	 BY_ANY,
	 {"Begun Before", "begun_before", TABLE_COUNT, TABLE_DATA | TABLE_LATER}},
	{VALUE_UNENDED, BY_ANY, {"Unended", "unended", TABLE_COUNT, TABLE_DATA | TABLE_LATER}},
};

#define COLUMN_COUNT (sizeof(wait_columns) / sizeof(wait_columns[0]))

struct waits_report {
	const struct report_input *input;
	struct wait_rows rows;
	uint64_t all_ns;
	struct call_path path; /* scratch */
};

static uint64_t average_ns(const struct waits_sum *sum)
{
	return sum->count > 0 ? sum->wait_ns / sum->count : 0;
}

static void fill_function(const struct waits_report *report, uint32_t function, bool is_module,
			  struct table_cell *cell)
{
	const struct functions *functions = report->input->functions;
	cell->text = is_module ? functions_dso_of(functions, function)->name
			       : functions_at(functions, function)->name;
}

/* Of short waits nothing is known but how many there were and how long they took. */
static void fill_detail(struct waits_report *report, const struct wait_row *row, enum value value,
			struct table_cell *cell)
{
	const struct waits *waits = &report->rows.wall.waits;
	if (row->is_short) {
		cell->is_unknown = true;
		return;
	}
	switch (value) {
	case VALUE_READY:
		cell->number = row->sum.ready_ns;
		break;
	case VALUE_SPIN:
		cell->number = row->sum.spin_ns;
		break;
	case VALUE_POOR:
		cell->number = row->sum.poor_ns;
		cell->is_unknown = profile_reader_states(report->input->reader) == 0;
		break;
	case VALUE_MOST:
		cell->number = row->sum.most_ns;
		break;
	case VALUE_TIMEOUTS:
		cell->number = row->sum.timeouts;
		break;
	case VALUE_BEFORE:
		cell->number = row->sum.before;
		break;
	case VALUE_UNENDED:
		cell->number = row->sum.unended;
		break;
	case VALUE_TYPE:
		cell->text = wait_type_name(waits->items[row->index].type);
		break;
	case VALUE_CREATED:
		if (waits->items[row->index].created != FUNCTION_UNKNOWN)
			fill_function(report, waits->items[row->index].created, false, cell);
		break;
	case VALUE_FUNCTION:
	case VALUE_MODULE:
		if (row->sum.count > 0)
			fill_function(report, row->function, value == VALUE_MODULE, cell);
		break;
	default:
		if (row->waker_function != FUNCTION_UNKNOWN)
			fill_function(report, row->waker_function, value == VALUE_WAKER_MODULE,
				      cell);
		break;
	}
}

static void fill_owner(const struct waits_report *report, const struct wait_row *row,
		       enum value value, struct table_cell *cell)
{
	const struct profile_reader *reader = report->input->reader;
	cell->is_unknown = row->index == PROFILE_NONE;
	if (cell->is_unknown)
		return;
	if (report->rows.group == REPORT_GROUP_OBJECT) {
		cell->number = report->rows.wall.waits.items[row->index].pid;
		cell->is_unknown = cell->number == 0;
		return;
	}
	const struct profile_thread_info *thread = profile_reader_thread(reader, row->index);
	cell->number = value == VALUE_TID ? thread->tid : thread->pid;
	if (value == VALUE_PROCESS)
		cell->text = tally_process_name(reader, thread->process);
}

static void fill_cell(struct waits_report *report, const struct wait_row *row, enum value value,
		      struct table_cell *cell)
{
	const struct wall_thread *account = wait_rows_account(&report->rows, row);
	switch (value) {
	case VALUE_LABEL:
		cell->text = row->label;
		break;
	case VALUE_TID:
	case VALUE_PID:
	case VALUE_PROCESS:
		fill_owner(report, row, value, cell);
		break;
	case VALUE_WAIT:
		cell->number = row->sum.wait_ns;
		break;
	case VALUE_SHARE:
		cell->number = table_share(row->sum.wait_ns, report->all_ns);
		break;
	case VALUE_COUNT:
		cell->number = row->sum.count;
		break;
	case VALUE_AVERAGE:
		cell->number = average_ns(&row->sum);
		break;
	case VALUE_SHORT_TIME:
	case VALUE_SHORT_COUNT:
		cell->is_unknown = !account;
		if (account)
			cell->number = value == VALUE_SHORT_TIME ? account->short_ns
								 : account->short_count;
		break;
	default:
		fill_detail(report, row, value, cell);
		break;
	}
}

/* Spin times are for people where there are any. Returns the number of columns. */
static size_t choose_columns(const struct waits_report *report,
			     struct table_column columns[COLUMN_COUNT],
			     enum value values[COLUMN_COUNT])
{
	size_t count = 0;
	bool has_spins = false;
	for (size_t i = 0; i < report->rows.count; i++)
		has_spins |= report->rows.rows[i].sum.spin_ns > 0;
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (!(wait_columns[i].groups & BY(report->rows.group)))
			continue;
		columns[count] = wait_columns[i].column;
		values[count] = wait_columns[i].value;
		if (values[count] == VALUE_SPIN && !has_spins)
			columns[count].audience &= ~TABLE_SHOWN;
		count++;
	}
	return count;
}

static void print_rows(struct waits_report *report, FILE *stream, unsigned width)
{
	struct table_column columns[COLUMN_COUNT];
	enum value values[COLUMN_COUNT];
	struct table table;
	uint32_t limit = report->input->options->limit;
	size_t count = choose_columns(report, columns, values);
	table_init(&table, columns, count);
	for (size_t i = 0; i < report->rows.count && (limit == 0 || i < limit); i++) {
		struct table_cell *row = table_add_row(&table);
		for (size_t k = 0; k < count; k++)
			fill_cell(report, &report->rows.rows[i], values[k], &row[k]);
	}
	report_print_table(report->input, &table, 0, stream, width);
	table_finish(&table);
}

/* ---- With stacks ---- */

enum { STACK_NAME, STACK_WAIT, STACK_SHARE, STACK_WAITS, STACK_MODULE, STACK_COLUMNS };

static const struct table_column stack_columns[STACK_COLUMNS] = {
	[STACK_NAME] = {"Sync Object / Function Stack", "name", TABLE_TREE, TABLE_ALL},
	[STACK_WAIT] = {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_ALL},
	[STACK_SHARE] = {"Wait %", "wait_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[STACK_WAITS] = {"Wait Count", "wait_count", TABLE_COUNT, TABLE_ALL},
	[STACK_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_ALL},
};

/* Where threads wait, and where they are woken, from the leaf up. */
struct row_stacks {
	struct call_tree waiting;
	struct call_tree waking;
	struct waits_sum stackless; /* woken by threads whose stacks were not taken */
};

static void add_stack(struct waits_report *report, struct call_tree *tree, uint32_t node,
		      uint32_t state, const struct waits_sum *sum)
{
	const struct report_input *input = report->input;
	const struct draws_part part = {.cpu_ns = sum->wait_ns, .samples = sum->count};
	call_path_of_stack(&report->path, input->reader, input->functions, node, state,
			   input->options->mode);
	call_tree_add(tree, report->path.functions, report->path.count, true, &part);
}

static void add_stack_row(struct waits_report *report, struct table *table, const char *name,
			  uint32_t depth, uint64_t wait_ns, uint64_t count, const char *module)
{
	struct table_cell *cells = table_add_row(table);
	cells[STACK_NAME].text = name;
	cells[STACK_NAME].depth = depth;
	cells[STACK_WAIT].number = wait_ns;
	cells[STACK_SHARE].number = table_share(wait_ns, report->all_ns);
	cells[STACK_WAITS].number = count;
	cells[STACK_MODULE].text = module;
}

static void add_tree(struct waits_report *report, struct table *table, const struct call_tree *tree,
		     uint32_t depth)
{
	const struct functions *functions = report->input->functions;
	size_t count;
	struct call_tree_row *rows = call_tree_rows(tree, report->input->rank, 0, &count);
	for (size_t i = 1; i < count; i++) {
		const struct call_tree_node *node = &tree->nodes[rows[i].node];
		add_stack_row(report, table, functions_at(functions, node->function)->name,
			      depth + rows[i].depth - 1, node->total.cpu_ns, node->total.samples,
			      functions_dso_of(functions, node->function)->name);
	}
	free(rows);
}

static struct row_stacks *collect_stacks(struct waits_report *report, size_t count)
{
	const struct waits *waits = &report->rows.wall.waits;
	struct row_stacks *stacks = xalloc_zeroed(count, sizeof(*stacks));
	for (size_t i = 0; i < count; i++) {
		call_tree_init(&stacks[i].waiting);
		call_tree_init(&stacks[i].waking);
	}
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *entry = &waits->entries[i];
		uint32_t row = report->rows.row_of_entry[i];
		if (row >= count)
			continue;
		add_stack(report, &stacks[row].waiting, entry->node, entry->state, &entry->sum);
		if (entry->waker_node != 0)
			add_stack(report, &stacks[row].waking, entry->waker_node,
				  entry->waker_state, &entry->sum);
		else if (entry->waker_tid != 0)
			waits_sum_add(&stacks[row].stackless, &entry->sum);
	}
	return stacks;
}

static void add_wakers(struct waits_report *report, struct table *table,
		       const struct row_stacks *stacks)
{
	const struct draws_part *seen = &stacks->waking.nodes[0].total;
	const struct waits_sum *unseen = &stacks->stackless;
	if (seen->samples + unseen->count == 0)
		return;
	add_stack_row(report, table, "[Woken by]", 1, seen->cpu_ns + unseen->wait_ns,
		      seen->samples + unseen->count, "");
	add_tree(report, table, &stacks->waking, 2);
	if (unseen->count > 0)
		add_stack_row(report, table, WAIT_ROWS_NO_STACK, 2, unseen->wait_ns, unseen->count,
			      "");
}

static void print_stacks(struct waits_report *report, FILE *stream, unsigned width)
{
	uint32_t limit = report->input->options->limit;
	size_t count = report->rows.count;
	if (limit > 0 && limit < count)
		count = limit;
	struct row_stacks *stacks = collect_stacks(report, count);
	struct table table;
	table_init(&table, stack_columns, STACK_COLUMNS);
	for (size_t i = 0; i < count; i++) {
		const struct wait_row *row = &report->rows.rows[i];
		add_stack_row(report, &table, row->label, 0, row->sum.wait_ns, row->sum.count, "");
		add_tree(report, &table, &stacks[i].waiting, 1);
		add_wakers(report, &table, &stacks[i]);
		call_tree_finish(&stacks[i].waiting);
		call_tree_finish(&stacks[i].waking);
	}
	report_print_table(report->input, &table, 0, stream, width);
	table_finish(&table);
	free(stacks);
}

/* ---- Below the table ---- */

static const char *const source_names[] = {
	[PROFILE_WAIT_BY_OBSERVER] = "looked at while they lasted",
	[PROFILE_WAIT_BY_BPF] = "recorded by BPF",
	[PROFILE_WAIT_BY_LIBRARY] = "recorded by the preloaded library",
};

#define SOURCE_COUNT (sizeof(source_names) / sizeof(source_names[0]))

static const char *source_name(uint32_t source)
{
	return source < SOURCE_COUNT && source_names[source] ? source_names[source]
							     : "of another source";
}

/* Waits that are longer than their rows say. */
static void print_cut(uint64_t count, const char *how, FILE *stream)
{
	if (count > 0)
		fprintf(stream, "%" PRIu64 " %s %s\n", count, count == 1 ? "wait" : "waits", how);
}

static void print_notes(const struct profile_reader *reader, FILE *stream)
{
	uint64_t lost = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_WAITS)
			fprintf(stream, "Waits of %g ms and more are known: %s\n",
				(double)note->value / 1e6, source_name(note->tid));
		else if (note->kind == PROFILE_NOTE_WAITS_LOST)
			lost += note->value;
		else if (note->kind == PROFILE_NOTE_WAITS_HIDDEN)
			fprintf(stream, "Process %" PRIu32 " hides what it waits for: %s\n",
				note->pid, profile_reader_text(reader, note->text));
	}
	if (lost > 0)
		fprintf(stream, "%" PRIu64 " %s lost: their time counts as that of short waits\n",
			lost, lost == 1 ? "wait" : "waits");
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* What is known and what is not, and whether it adds up. */
static void print_account(const struct waits_report *report, FILE *stream)
{
	const struct profile_reader *reader = report->input->reader;
	const struct wall_thread *sum = &report->rows.wall.sum;
	uint64_t wait_ns = sum->wait_ns + sum->excess_ns - sum->lack_ns;
	fputc('\n', stream);
	if (sum->has_states)
		fprintf(stream,
			"Blocked %.6f s: waits %.6f s, %" PRIu64
			" short ones %.6f s; difference %.6f s\n",
			seconds(sum->wait_ns + sum->short_ns), seconds(wait_ns), sum->short_count,
			seconds(sum->short_ns), seconds(sum->excess_ns + sum->lack_ns));
	else
		fputs("No states were recorded: short waits are not known\n", stream);
	print_cut(report->rows.wall.waits.sum.before,
		  "began before the collection, which does not know when", stream);
	print_cut(report->rows.wall.waits.sum.unended,
		  "lasted until the collection, the thread or the records of switches ended",
		  stream);
	print_notes(reader, stream);
}

/* ---- In the summary ---- */

enum { TOP_WAIT, TOP_SHARE, TOP_COUNT, TOP_OBJECT, TOP_COLUMNS };

static const struct table_column top_columns[TOP_COLUMNS] = {
	[TOP_WAIT] = {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_ALL},
	[TOP_SHARE] = {"Wait %", "wait_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED},
	[TOP_COUNT] = {"Wait Count", "wait_count", TABLE_COUNT, TABLE_ALL},
	[TOP_OBJECT] = {"Sync Object", "sync_object", TABLE_NAME, TABLE_ALL},
};

TBRW_U32 report_top_waits(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width)
{
	struct waits_report report = {.input = input};
	struct table table;
	TBRW_U32 code = wait_rows_make(&report.rows, input);
	if (code != VT_SUCCESS)
		return code;
	for (size_t i = 0; i < report.rows.count; i++)
		report.all_ns += report.rows.rows[i].sum.wait_ns;
	table_init(&table, top_columns, TOP_COLUMNS);
	for (size_t i = 0, shown = 0; i < report.rows.count && shown < limit; i++) {
		const struct wait_row *row = &report.rows.rows[i];
		if (row->is_short)
			continue;
		struct table_cell *cells = table_add_row(&table);
		cells[TOP_WAIT].number = row->sum.wait_ns;
		cells[TOP_SHARE].number = table_share(row->sum.wait_ns, report.all_ns);
		cells[TOP_COUNT].number = row->sum.count;
		cells[TOP_OBJECT].text = row->label;
		shown++;
	}
	if (report.rows.wall.waits.count > 0) {
		fputs("\nTop Waiting Objects\n", stream);
		report_print_as(input, &table, table_format_find("text"), stream, width);
	}
	table_finish(&table);
	wait_rows_finish(&report.rows);
	return VT_SUCCESS;
}

TBRW_U32 report_waits_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct waits_report report = {.input = input};
	TBRW_U32 code = wait_rows_make(&report.rows, input);
	if (code != VT_SUCCESS)
		return code;
	for (size_t i = 0; i < report.rows.count; i++)
		report.all_ns += report.rows.rows[i].sum.wait_ns;
	if (input->options->with_stacks)
		print_stacks(&report, stream, width);
	else
		print_rows(&report, stream, width);
	if (input->options->format->id == TABLE_FORMAT_TEXT && !report_has_problem(input))
		print_account(&report, stream);
	call_path_finish(&report.path);
	wait_rows_finish(&report.rows);
	return VT_SUCCESS;
}
