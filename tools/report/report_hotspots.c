#include "tools/analysis/command_lines.h"
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
	COLUMN_LATER_ERROR, /* in CSV columns that came later stand behind the others */
	COLUMN_COUNT
};

static const struct table_column function_columns[COLUMN_COUNT] = {
	[COLUMN_FUNCTION] = {"Function", "function", TABLE_NAME, TABLE_IN_ALL},
	[COLUMN_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_IN_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_IN_TEXT | TABLE_IN_JSON},
	[COLUMN_ERROR] = REPORT_ERROR_SHOWN,
	[COLUMN_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_IN_ALL},
	[COLUMN_MODULE] = {"Module", "module", TABLE_TEXT, TABLE_IN_ALL},
	[COLUMN_FULL] = {"Function (Full)", "function_full", TABLE_NAME,
			 TABLE_IN_CSV | TABLE_IN_JSON},
	[COLUMN_FILE] = {"Source File", "source_file", TABLE_TEXT, TABLE_IN_ALL | TABLE_OPTIONAL},
	[COLUMN_START] = {"Start Address", "start_address", TABLE_ADDRESS,
			  TABLE_IN_CSV | TABLE_IN_JSON},
	[COLUMN_PATH] = {"Source Path", "source_path", TABLE_TEXT, TABLE_IN_JSON},
	[COLUMN_LATER_ERROR] = REPORT_ERROR_EXPORTED,
};

/* Own time of each function, as groups without labels whose index is the function's. */
static struct group *sum_functions(const struct report_input *input, size_t *count)
{
	uint32_t functions = functions_count(input->functions);
	struct group *sums = xalloc_zeroed(functions, sizeof(*sums));
	struct chain chain = {0};
	for (size_t i = 0; i < input->tally.count; i++) {
		const struct tally_entry *entry = &input->tally.entries[i];
		if (!report_takes_entry(input, entry, &chain))
			continue;
		draws_add_part(&sums[chain_leaf(&chain)].sum, &entry->sum);
	}
	chain_finish(&chain);
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
	report_set_error(&row[COLUMN_ERROR], &row[COLUMN_LATER_ERROR], sum, &input->tally.draws,
			 total_ns);
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
	row[COLUMN_ERROR].is_unknown = row[COLUMN_LATER_ERROR].is_unknown = true;
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

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "[Unknown]";
}

static bool is_by_process(enum report_group by)
{
	return by == REPORT_GROUP_PROCESS || by == REPORT_GROUP_PID;
}

/* Of these rows the threads' accounts say what they used as a whole. */
static bool is_by_thread(enum report_group by)
{
	return is_by_process(by) || by == REPORT_GROUP_THREAD;
}

static bool is_by_account(const struct report_input *input)
{
	return is_by_thread(input->options->group) &&
	       !filter_needs_function(&input->options->filter);
}

/* Processes are told apart by their numbers here, also where rows are by name. */
static void add_to_group(const struct report_input *input, const struct tally_entry *entry,
			 uint32_t leaf, struct groups *groups)
{
	const struct function *function = functions_at(input->functions, leaf);
	const char *label = "";
	uint64_t id = 0;
	switch (input->options->group) {
	case REPORT_GROUP_MODULE:
		label = functions_module_of(input->functions, leaf)->name;
		break;
	case REPORT_GROUP_PROCESS:
	case REPORT_GROUP_PID:
		label = or_unknown(tally_process_name(input->reader, entry->process));
		id = entry->pid;
		break;
	case REPORT_GROUP_THREAD:
		label = or_unknown(tally_thread_name(input->reader, entry->thread));
		id = entry->tid;
		break;
	default:
		label = leaf == FUNCTION_KERNEL ? FUNCTION_KERNEL_NAME
						: or_unknown(path_base_name(function->file));
		break;
	}
	groups_add(groups, label, id, entry->process, &entry->sum);
}

#define NO_THREAD UINT64_MAX /* id of the group of the time of no known thread */

/* What threads used beyond their samples belongs to them and their processes. */
static void add_rest_to_groups(const struct report_input *input, struct groups *groups)
{
	enum report_group by = input->options->group;
	if (!is_by_thread(by)) {
		if (report_shows_no_sample(&input->tally))
			groups_add(groups, REPORT_NO_SAMPLE, 0, 0,
				   &(struct draws_part){.cpu_ns = input->tally.rest_ns});
		return;
	}
	if (report_threadless_ns(input) > 0)
		groups_add(groups, REPORT_NO_THREAD, NO_THREAD, PROFILE_NONE,
			   &(struct draws_part){.cpu_ns = report_threadless_ns(input)});
	if (filter_needs_function(&input->options->filter))
		return;
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		const char *process = tally_process_name(input->reader, thread->process);
		if (!filter_takes_thread(&input->options->filter, thread->pid, process, thread->tid,
					 thread->name))
			continue;
		groups_add(groups, or_unknown(is_by_process(by) ? process : thread->name),
			   is_by_process(by) ? thread->pid : thread->tid, thread->process,
			   &(struct draws_part){.cpu_ns = input->tally.thread_rest_ns[i]});
	}
}

/* Of the processes with one name; their id is that of the first. */
static void sum_by_name(struct groups *groups)
{
	struct groups sums = {0};
	for (size_t i = 0; i < groups->count; i++)
		groups_add(&sums, groups->groups[i].label, 0, (uint32_t)i, &groups->groups[i].sum);
	for (size_t i = 0; i < sums.count; i++)
		sums.groups[i].id = groups->groups[sums.groups[i].index].id;
	groups_finish(groups);
	*groups = sums;
}

static void collect_groups(const struct report_input *input, struct groups *groups)
{
	struct chain chain = {0};
	for (size_t i = 0; i < input->tally.count; i++) {
		const struct tally_entry *entry = &input->tally.entries[i];
		if (report_takes_entry(input, entry, &chain))
			add_to_group(input, entry, chain_leaf(&chain), groups);
	}
	chain_finish(&chain);
	add_rest_to_groups(input, groups);
	if (input->options->group == REPORT_GROUP_PROCESS)
		sum_by_name(groups);
	groups_sort(groups);
}

enum {
	GROUP_NAME,
	GROUP_ID,
	GROUP_CPU,
	GROUP_SHARE,
	GROUP_ERROR,
	GROUP_SAMPLES,
	GROUP_PROCESSES,
	GROUP_COMMAND,
	GROUP_LATER_ERROR,
};

static void fill_groups(const struct report_input *input, const struct groups *groups,
			const char *const *commands, struct table *table)
{
	uint64_t total_ns = input->tally.cpu_ns + input->tally.rest_ns;
	bool is_exact = is_by_account(input);
	if (is_by_thread(input->options->group))
		total_ns += report_threadless_ns(input);
	uint32_t limit = input->options->limit;
	for (size_t i = 0; i < groups->count && (limit == 0 || i < limit); i++) {
		const struct group *group = &groups->groups[i];
		struct table_cell *row = table_add_row(table);
		row[GROUP_NAME].text = group->label;
		row[GROUP_ID].number = group->id;
		row[GROUP_ID].is_unknown =
			group->id == NO_THREAD ||
			(input->options->group == REPORT_GROUP_PROCESS && group->added > 1);
		row[GROUP_CPU].number = group->sum.cpu_ns;
		row[GROUP_SHARE].number = table_share(group->sum.cpu_ns, total_ns);
		report_set_error(&row[GROUP_ERROR], &row[GROUP_LATER_ERROR], &group->sum,
				 &input->tally.draws, total_ns);
		row[GROUP_ERROR].is_unknown |= is_exact;
		row[GROUP_LATER_ERROR].is_unknown |= is_exact;
		row[GROUP_SAMPLES].number = group->sum.samples;
		row[GROUP_PROCESSES].number = group->added;
		row[GROUP_PROCESSES].is_unknown = group->id == NO_THREAD;
		if (input->options->group == REPORT_GROUP_PID && group->index != PROFILE_NONE)
			row[GROUP_COMMAND].text = commands[group->index];
	}
}

static void print_groups(const struct report_input *input, FILE *stream, unsigned width)
{
	static const struct {
		const char *title;
		const char *key;
		const char *id_title; /* NULL: none */
		const char *id_key;
		enum table_kind kind;
	} names[] = {
		[REPORT_GROUP_FUNCTION] = {"Function", "function", NULL, NULL, TABLE_NAME},
		[REPORT_GROUP_MODULE] = {"Module", "module", NULL, NULL, TABLE_NAME},
		[REPORT_GROUP_PROCESS] = {"Process", "process", "PID", "pid", TABLE_NAME},
		[REPORT_GROUP_PID] = {"Process", "process", "PID", "pid", TABLE_TEXT},
		[REPORT_GROUP_THREAD] = {"Thread", "thread", "TID", "tid", TABLE_NAME},
		[REPORT_GROUP_SOURCE_FILE] = {"Source File", "source_file", NULL, NULL, TABLE_NAME},
	};
	enum report_group by = input->options->group;
	const struct table_column columns[] = {
		[GROUP_NAME] = {names[by].title, names[by].key, names[by].kind, TABLE_IN_ALL},
		[GROUP_ID] = {names[by].id_title ? names[by].id_title : "", names[by].id_key,
			      TABLE_ID, names[by].id_title ? TABLE_IN_ALL : 0},
		[GROUP_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_IN_ALL},
		[GROUP_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_IN_TEXT | TABLE_IN_JSON},
		[GROUP_ERROR] = REPORT_ERROR_SHOWN,
		[GROUP_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_IN_ALL},
		[GROUP_PROCESSES] = {"Processes", "processes", TABLE_COUNT,
				     by == REPORT_GROUP_PROCESS ? TABLE_IN_ALL : 0},
		[GROUP_COMMAND] = {"Command Line", "command_line", TABLE_NAME,
				   by == REPORT_GROUP_PID ? TABLE_IN_ALL : 0},
		[GROUP_LATER_ERROR] = REPORT_ERROR_EXPORTED,
	};
	const char **commands = command_lines_collect(input->reader);
	struct groups groups = {0};
	struct table table;
	collect_groups(input, &groups);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	fill_groups(input, &groups, commands, &table);
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
	groups_finish(&groups);
	free(commands);
}

void report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct table table;
	if (input->options->group != REPORT_GROUP_FUNCTION) {
		print_groups(input, stream, width);
		return;
	}
	report_hotspots_fill(input, input->options->limit, &table);
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
}
