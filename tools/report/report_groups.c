/* A row for each function, module, process, thread or source file. */
#include "containers/compare.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/samples/draws.h"
#include "tools/text/path.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of rows besides enum report_group. */
enum {
	MODULE_PATH = REPORT_GROUP_COUNT, /* an image's path: the report modules */
	THREAD_LIFE,                      /* the report threads */
	PROGRAM,                          /* processes of one name: in the summary */
};

enum value {
	VALUE_LABEL,
	VALUE_PATH,
	VALUE_PID,
	VALUE_TID,
	VALUE_PROCESS,
	VALUE_CPU,
	VALUE_SHARE,
	VALUE_ERROR,
	VALUE_WAIT,
	VALUE_SAMPLES,
	VALUE_PROCESSES,
	VALUE_COMMAND,
	VALUE_MODULE,
	VALUE_FULL,
	VALUE_FILE,
	VALUE_START,
	VALUE_SOURCE,
};

#define BY(rows) (1u << (rows))
#define BY_ANY   (BY(PROGRAM + 1) - 1)
_Static_assert(PROGRAM + 1 < 32, "a bit for each kind of rows");

/* In their order. */
static const struct group_column {
	enum value value;
	unsigned rows; /* rows with the column */
	struct table_column column;
} group_columns[] = {
	{VALUE_LABEL, BY(REPORT_GROUP_FUNCTION), {"Function", "function", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(PROGRAM), {"Program", "program", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_MODULE), {"Module", "module", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(MODULE_PATH), {"Module", "module", TABLE_TEXT, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_PROCESS), {"Process", "process", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL, BY(REPORT_GROUP_PID), {"Process", "process", TABLE_TEXT, TABLE_ALL}},
	{VALUE_LABEL,
	 BY(REPORT_GROUP_THREAD) | BY(THREAD_LIFE),
	 {"Thread", "thread", TABLE_NAME, TABLE_ALL}},
	{VALUE_LABEL,
	 BY(REPORT_GROUP_SOURCE_FILE),
	 {"Source File", "source_file", TABLE_NAME, TABLE_ALL}},
	{VALUE_PATH, BY(MODULE_PATH), {"Path", "path", TABLE_NAME, TABLE_ALL | TABLE_OPTIONAL}},
	{VALUE_TID, BY(REPORT_GROUP_THREAD) | BY(THREAD_LIFE), {"TID", "tid", TABLE_ID, TABLE_ALL}},
	{VALUE_PROCESS, BY(THREAD_LIFE), {"Process", "process", TABLE_TEXT, TABLE_ALL}},
	{VALUE_PID,
	 BY(REPORT_GROUP_PROCESS) | BY(REPORT_GROUP_PID) | BY(THREAD_LIFE),
	 {"PID", "pid", TABLE_ID, TABLE_ALL}},
	{VALUE_CPU, BY_ANY, {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL}},
	{VALUE_SHARE, BY_ANY, {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED}},
	{VALUE_ERROR, BY_ANY & ~BY(THREAD_LIFE) & ~BY(PROGRAM), REPORT_ERROR_COLUMN},
	/* Empty: sampling alone does not see waits. */
	{VALUE_WAIT, BY(THREAD_LIFE), {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_DATA}},
	{VALUE_SAMPLES, BY_ANY, {"Samples", "samples", TABLE_COUNT, TABLE_ALL}},
	{VALUE_PROCESSES,
	 BY(REPORT_GROUP_PROCESS) | BY(PROGRAM),
	 {"Processes", "processes", TABLE_COUNT, TABLE_ALL}},
	{VALUE_COMMAND,
	 BY(REPORT_GROUP_PID),
	 {"Command Line", "command_line", TABLE_NAME, TABLE_ALL}},
	{VALUE_MODULE, BY(REPORT_GROUP_FUNCTION), {"Module", "module", TABLE_TEXT, TABLE_ALL}},
	{VALUE_FULL,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Function (Full)", "function_full", TABLE_NAME, TABLE_DATA}},
	{VALUE_FILE,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Source File", "source_file", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL}},
	{VALUE_START,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Start Address", "start_address", TABLE_ADDRESS, TABLE_DATA}},
	{VALUE_SOURCE,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Source Path", "source_path", TABLE_TEXT, TABLE_KEYED}},
};

#define COLUMN_COUNT (sizeof(group_columns) / sizeof(group_columns[0]))

/* Marks the group id of a thread without a record in the result; pid and tid are the bits below. */
#define NO_RECORD (UINT64_C(1) << 63)
/* The group id of time of no known thread, and of time in no sample. */
#define NO_OWNER UINT64_MAX

/* CPU time and samples under a label. */
struct group {
	const char *label; /* borrowed */
	uint64_t id;       /* tells groups of one label apart; also shown as PID, TID */
	struct draws_part sum;
	uint32_t added; /* number of additions */
	uint32_t index; /* the caller's, of the first addition */
};

struct groups { /* all zero: empty */
	struct group *groups;
	size_t count;
	struct index_map map;
};

static bool is_group(const void *item, const void *wanted)
{
	const struct group *group = item;
	const struct group *other = wanted;
	return group->id == other->id && strcmp(group->label, other->label) == 0;
}

static void add_to_group(struct groups *groups, const char *label, uint64_t id, uint32_t index,
			 const struct draws_part *part)
{
	const struct group wanted = {.label = label, .id = id, .index = index};
	const uint64_t identity[] = {id, index_map_hash_text(&groups->map, label)};
	uint32_t at =
		index_map_enter(&groups->map, &groups->groups, &wanted, sizeof(wanted),
				index_map_hash(&groups->map, identity, sizeof(identity)), is_group);
	groups->count = index_map_count(&groups->map);
	draws_add_part(&groups->groups[at].sum, part);
	groups->groups[at].added++;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;
	int order = compare_numbers(right->sum.cpu_ns, left->sum.cpu_ns);
	if (!order)
		order = compare_numbers(right->sum.samples, left->sum.samples);
	if (!order)
		order = strcmp(left->label, right->label);
	return order ? order : compare_numbers(left->id, right->id);
}

/* By CPU time, samples (most first), label, id. Nothing can be added after this. */
static void sort_groups(struct groups *groups)
{
	if (groups->count > 1)
		qsort(groups->groups, groups->count, sizeof(*groups->groups), compare_groups);
}

static void free_groups(struct groups *groups)
{
	free(groups->groups);
	index_map_finish(&groups->map);
	memset(groups, 0, sizeof(*groups));
}

struct grouping {
	const struct report_input *input;
	unsigned rows;
	struct groups groups;
	const char **commands; /* of the processes, for rows by pid */
	struct table table;
	struct table_column columns[COLUMN_COUNT];
	enum value values[COLUMN_COUNT]; /* of the columns */
};

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "[Unknown]";
}

static bool is_by_process(const struct grouping *grouping)
{
	return grouping->rows == REPORT_GROUP_PROCESS || grouping->rows == REPORT_GROUP_PID;
}

/* True if the threads' accounts give the rows' whole CPU time. */
static bool is_by_thread(const struct grouping *grouping)
{
	return is_by_process(grouping) || grouping->rows == REPORT_GROUP_THREAD ||
	       grouping->rows == THREAD_LIFE;
}

/* A group for each life of a thread; for threads without a record (the result was cut short), one
 * for each process and thread number. index: of the thread, or of the tally entry. */
static void add_to_life(struct grouping *grouping, const struct tally_entry *entry)
{
	const struct tally *tally = &grouping->input->tally;
	if (entry->thread != PROFILE_NONE)
		add_to_group(&grouping->groups,
			     tally_thread_name(grouping->input->reader, entry->thread),
			     entry->thread, entry->thread, &entry->sum);
	else
		add_to_group(&grouping->groups, "[Unknown]",
			     NO_RECORD | (uint64_t)entry->pid << 32 | entry->tid,
			     (uint32_t)(entry - tally->entries), &entry->sum);
}

/* Processes are told apart by their numbers here, also for rows by name. */
static void add_entry(struct grouping *grouping, const struct weighted_stacks *at)
{
	const struct report_input *input = grouping->input;
	const struct tally_entry *entry = at->entry;
	uint32_t dso = functions_at(input->functions, at->leaf)->dso;
	const char *label = functions_dso(input->functions, dso)->name;
	uint64_t id = 0;
	uint32_t index = entry->process;
	switch (grouping->rows) {
	case REPORT_GROUP_FUNCTION:
		label = functions_at(input->functions, at->leaf)->name;
		id = input->rank[at->leaf];
		index = at->leaf;
		break;
	case REPORT_GROUP_MODULE:
		break;
	case MODULE_PATH:
		id = index = dso;
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
		label = or_unknown(path_base_name(functions_at(input->functions, at->leaf)->file));
		if (at->leaf == FUNCTION_KERNEL)
			label = FUNCTION_KERNEL_NAME;
		break;
	}
	add_to_group(&grouping->groups, label, id, index, &entry->sum);
}

static void add_time(struct grouping *grouping, const char *label, uint64_t id, uint32_t index,
		     uint64_t cpu_ns)
{
	add_to_group(&grouping->groups, label, id, index, &(struct draws_part){.cpu_ns = cpu_ns});
}

/* Adds a thread's CPU time beyond its samples to the row of the thread or of its process. */
static void add_rest_of_thread(struct grouping *grouping, uint32_t index)
{
	const struct report_input *input = grouping->input;
	const struct profile_thread_info *thread = profile_reader_thread(input->reader, index);
	const char *process = tally_process_name(input->reader, thread->process);
	uint64_t rest_ns = input->tally.thread_rest_ns[index];
	if (!tally_takes_thread(input->reader, &input->options->filter, index))
		return;
	if (grouping->rows == THREAD_LIFE)
		add_time(grouping, thread->name, index, index, rest_ns);
	else if (grouping->rows == REPORT_GROUP_THREAD)
		add_time(grouping, or_unknown(thread->name), thread->tid, thread->process, rest_ns);
	else
		add_time(grouping, or_unknown(process), thread->pid, thread->process, rest_ns);
}

static void add_rest(struct grouping *grouping)
{
	const struct report_input *input = grouping->input;
	uint64_t threadless_ns = report_threadless_ns(input);
	if (!is_by_thread(grouping)) {
		if (report_shows_no_sample(&input->tally))
			add_time(grouping, TALLY_NO_SAMPLE, NO_OWNER, PROFILE_NONE,
				 input->tally.rest_ns);
		return;
	}
	if (threadless_ns > 0)
		add_time(grouping, TALLY_NO_THREAD, NO_OWNER, PROFILE_NONE, threadless_ns);
	if (filter_needs_function(&input->options->filter) ||
	    filter_has_times(&input->options->filter))
		return;
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++)
		add_rest_of_thread(grouping, i);
}

/* Sums up processes of one name; their id is the id of the first. */
static void sum_by_name(struct groups *groups)
{
	struct groups sums = {0};
	for (size_t i = 0; i < groups->count; i++)
		add_to_group(&sums, groups->groups[i].label, 0, (uint32_t)i,
			     &groups->groups[i].sum);
	for (size_t i = 0; i < sums.count; i++)
		sums.groups[i].id = groups->groups[sums.groups[i].index].id;
	free_groups(groups);
	*groups = sums;
}

/* Processes by their threads' accounts. */
static void collect_programs(struct grouping *grouping)
{
	const struct report_input *input = grouping->input;
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		const char *name = tally_process_name(input->reader, thread->process);
		if (tally_takes_thread(input->reader, &input->options->filter, i))
			add_to_group(&grouping->groups, or_unknown(name), thread->process, i,
				     &(struct draws_part){.cpu_ns = thread->cpu_ns,
							  .samples = thread->samples});
	}
}

static void collect_groups(struct grouping *grouping)
{
	struct weighted_stacks at = report_stacks(grouping->input, grouping->rows != THREAD_LIFE);
	while (grouping->rows != PROGRAM && weighted_stacks_next(&at)) {
		if (grouping->rows == THREAD_LIFE)
			add_to_life(grouping, at.entry);
		else
			add_entry(grouping, &at);
	}
	if (grouping->rows == PROGRAM)
		collect_programs(grouping);
	else
		add_rest(grouping);
	if (grouping->rows == REPORT_GROUP_PROCESS || grouping->rows == PROGRAM)
		sum_by_name(&grouping->groups);
	sort_groups(&grouping->groups);
}

/* Whose a row is. */
struct owner {
	bool is_known; /* of the numbers */
	uint32_t pid;
	uint32_t tid;
	uint32_t process; /* PROFILE_NONE: not known */
};

static struct owner find_owner(const struct grouping *grouping, const struct group *group)
{
	const struct report_input *input = grouping->input;
	bool is_one = grouping->rows != REPORT_GROUP_PROCESS || group->added == 1;
	uint32_t id = (uint32_t)group->id;
	if (group->id == NO_OWNER)
		return (struct owner){.process = PROFILE_NONE};
	if (grouping->rows != THREAD_LIFE)
		return (struct owner){is_one, id, id, group->index};
	if (group->id & NO_RECORD) {
		const struct tally_entry *entry = &input->tally.entries[group->index];
		return (struct owner){true, entry->pid, entry->tid, entry->process};
	}
	const struct profile_thread_info *thread =
		profile_reader_thread(input->reader, group->index);
	return (struct owner){true, thread->pid, thread->tid, thread->process};
}

/* Fills a column of functions alone. Time in no sample is like time of an unknown function. */
static void fill_function(const struct functions *functions, const struct group *group,
			  enum value value, struct table_cell *cell)
{
	bool is_known = group->id != NO_OWNER;
	uint32_t index = is_known ? group->index : FUNCTION_UNKNOWN;
	const struct function *function = functions_at(functions, index);
	if (value == VALUE_MODULE)
		cell->text = functions_dso_of(functions, index)->name;
	else if (value == VALUE_FULL)
		cell->text = is_known ? function->full : group->label;
	else if (value == VALUE_START)
		cell->number = function->start;
	else
		cell->text = value == VALUE_FILE ? path_base_name(function->file) : function->file;
	cell->is_unknown = value == VALUE_START && function->start == 0;
}

static void fill_cell(const struct grouping *grouping, const struct group *group, uint64_t total_ns,
		      enum value value, struct table_cell *cell)
{
	const struct report_input *input = grouping->input;
	assert(group->added > 0);
	struct owner owner = find_owner(grouping, group);
	switch (value) {
	case VALUE_LABEL:
		cell->text = group->label;
		break;
	case VALUE_PATH:
		if (group->id != NO_OWNER)
			cell->text = functions_dso(input->functions, group->index)->path;
		break;
	case VALUE_PID:
	case VALUE_TID:
		cell->number = value == VALUE_PID ? owner.pid : owner.tid;
		cell->is_unknown = !owner.is_known;
		break;
	case VALUE_PROCESS:
		cell->text = tally_process_name(input->reader, owner.process);
		break;
	case VALUE_CPU:
		cell->number = group->sum.cpu_ns;
		break;
	case VALUE_SHARE:
		cell->number = table_share(group->sum.cpu_ns, total_ns);
		break;
	case VALUE_ERROR:
		report_set_error(cell, &group->sum, &input->tally.draws, total_ns);
		cell->is_unknown |=
			is_by_thread(grouping) && !filter_needs_function(&input->options->filter);
		break;
	case VALUE_WAIT:
		cell->is_unknown = true;
		break;
	case VALUE_SAMPLES:
		cell->number = group->sum.samples;
		break;
	case VALUE_PROCESSES:
		cell->number = group->added;
		cell->is_unknown = group->id == NO_OWNER;
		break;
	case VALUE_COMMAND:
		assert(grouping->commands);
		if (owner.process != PROFILE_NONE)
			cell->text = grouping->commands[owner.process];
		break;
	default:
		fill_function(input->functions, group, value, cell);
		break;
	}
}

/* Rows of programs have all CPU time of their processes' accounts. */
static uint64_t sum_all(const struct grouping *grouping)
{
	const struct tally *tally = &grouping->input->tally;
	uint64_t total_ns = tally->cpu_ns + tally->rest_ns;
	if (is_by_thread(grouping))
		total_ns += report_threadless_ns(grouping->input);
	if (grouping->rows == PROGRAM)
		total_ns = 0;
	for (size_t i = 0; grouping->rows == PROGRAM && i < grouping->groups.count; i++)
		total_ns += grouping->groups.groups[i].sum.cpu_ns;
	return total_ns;
}

/* limit: of the rows; 0: all. */
static void make_table(struct grouping *grouping, const struct report_input *input, unsigned rows,
		       uint32_t limit)
{
	size_t count = 0;
	*grouping = (struct grouping){.input = input, .rows = rows};
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (group_columns[i].rows & BY(rows)) {
			grouping->columns[count] = group_columns[i].column;
			grouping->values[count++] = group_columns[i].value;
		}
	}
	if (rows == REPORT_GROUP_PID)
		grouping->commands = tally_command_lines(input->reader);
	collect_groups(grouping);
	uint64_t total_ns = sum_all(grouping);
	table_init(&grouping->table, grouping->columns, count);
	for (size_t i = 0; i < grouping->groups.count && (limit == 0 || i < limit); i++) {
		struct table_cell *row = table_add_row(&grouping->table);
		for (size_t k = 0; k < count; k++)
			fill_cell(grouping, &grouping->groups.groups[i], total_ns,
				  grouping->values[k], &row[k]);
	}
}

static void finish_table(struct grouping *grouping)
{
	table_finish(&grouping->table);
	free_groups(&grouping->groups);
	free(grouping->commands);
}

static void print_groups(const struct report_input *input, unsigned rows, FILE *stream,
			 unsigned width)
{
	struct grouping grouping;
	make_table(&grouping, input, rows, input->options->limit);
	report_print_table(input, &grouping.table, 0, stream, width);
	finish_table(&grouping);
}

TBRW_U32 report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_groups(input, input->options->group, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_modules_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_groups(input, MODULE_PATH, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_threads_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_groups(input, THREAD_LIFE, stream, width);
	return VT_SUCCESS;
}

void report_top_functions(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width)
{
	struct grouping grouping;
	make_table(&grouping, input, REPORT_GROUP_FUNCTION, limit);
	table_format_text(&grouping.table, stream, width);
	finish_table(&grouping);
}

void report_top_programs(const struct report_input *input, uint32_t limit, FILE *stream,
			 unsigned width)
{
	struct grouping grouping;
	if (filter_needs_function(&input->options->filter) ||
	    filter_has_times(&input->options->filter))
		return;
	make_table(&grouping, input, PROGRAM, limit);
	if (grouping.groups.count > 1) {
		fputs("\nTop Programs\n", stream);
		table_format_text(&grouping.table, stream, width);
	}
	finish_table(&grouping);
}
