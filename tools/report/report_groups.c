/* A row for each function, module, process, thread or source file. */
#include "tools/memory/xalloc.h"
#include "tools/report/groups.h"
#include "tools/report/report.h"
#include "tools/samples/draws.h"
#include "tools/states/concurrency.h"
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
	VALUE_READY,
	VALUE_STOPPED,
	VALUE_STATE_UNKNOWN,
	VALUE_GUESSED,
	VALUE_RUNNING,
	VALUE_LIFE,
	VALUE_WAITS,
	VALUE_IDLE, /* and so on: as enum concurrency_class */
	VALUE_OVER = VALUE_IDLE + CONCURRENCY_OVER,
};

#define BY(rows) (1u << (rows))
#define BY_ANY   (BY(PROGRAM + 1) - 1)
/* CPU time by the use of the CPUs at that moment: the report hotspots. */
#define BY_HOTSPOTS    (BY(REPORT_GROUP_COUNT) - 1)
#define CLASS_AUDIENCE (TABLE_ALL | TABLE_OPTIONAL | TABLE_LATER)
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
	{VALUE_READY,
	 BY(THREAD_LIFE),
	 {"Ready Time", "ready_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	/* Empty without states: sampling alone does not see waits. */
	{VALUE_WAIT, BY(THREAD_LIFE), {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_ALL}},
	{VALUE_STOPPED,
	 BY(THREAD_LIFE),
	 {"Stopped Time", "stopped_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{VALUE_STATE_UNKNOWN,
	 BY(THREAD_LIFE),
	 {"Unknown Time", "unknown_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{VALUE_GUESSED,
	 BY(THREAD_LIFE),
	 {"Guessed Time", "guessed_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{VALUE_RUNNING,
	 BY(THREAD_LIFE),
	 {"Running Time", "running_time_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
	{VALUE_LIFE,
	 BY(THREAD_LIFE),
	 {"Lifetime", "lifetime_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
	{VALUE_WAITS,
	 BY(THREAD_LIFE),
	 {"Wait Count", "wait_count", TABLE_COUNT, TABLE_ALL | TABLE_LATER}},
	{VALUE_IDLE, BY_HOTSPOTS, {"Idle", "idle_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{VALUE_IDLE + CONCURRENCY_POOR,
	 BY_HOTSPOTS,
	 {"Poor", "poor_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{VALUE_IDLE + CONCURRENCY_OK, BY_HOTSPOTS, {"Ok", "ok_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{VALUE_IDLE + CONCURRENCY_IDEAL,
	 BY_HOTSPOTS,
	 {"Ideal", "ideal_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{VALUE_OVER, BY_HOTSPOTS, {"Over", "over_s", TABLE_SECONDS, CLASS_AUDIENCE}},
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

#define SHOWN_MIN_NS 500000u /* less than this is 0.000 s */

/* Marks the group id of a thread without a record in the result; pid and tid are the bits below. */
#define NO_RECORD (UINT64_C(1) << 63)
/* Beside NO_RECORD: nor samples; the bits below are the number of its lane. */
#define BY_STATES (UINT64_C(1) << 62)
/* The group id of time of no known thread, and of time in no sample. */
#define NO_OWNER UINT64_MAX

struct grouping {
	const struct report_input *input;
	unsigned rows;
	struct groups groups;
	const char **commands;              /* of the processes, for rows by pid */
	const struct thread_states *states; /* of the rows THREAD_LIFE; NULL: there are none */
	uint32_t target;                    /* thousandths of a CPU */
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
		groups_add(&grouping->groups,
			   tally_thread_name(grouping->input->reader, entry->thread), entry->thread,
			   entry->thread, &entry->sum);
	else
		groups_add(&grouping->groups, "[Unknown]",
			   NO_RECORD | (uint64_t)entry->pid << 32 | entry->tid,
			   (uint32_t)(entry - tally->entries), &entry->sum);
}

static size_t class_of(const struct grouping *grouping, const struct tally_entry *entry)
{
	return entry->running == TALLY_RUNNING_UNKNOWN
		       ? CONCURRENCY_CLASS_COUNT
		       : concurrency_classify(entry->running, grouping->target);
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
			label = PROFILE_GAP_KERNEL_NAME;
		break;
	}
	struct group *group = groups_add(&grouping->groups, label, id, index, &entry->sum);
	group->class_ns[class_of(grouping, entry)] += entry->sum.cpu_ns;
}

static void add_time(struct grouping *grouping, const char *label, uint64_t id, uint32_t index,
		     uint64_t cpu_ns)
{
	struct group *group = groups_add(&grouping->groups, label, id, index,
					 &(struct draws_part){.cpu_ns = cpu_ns});
	group->class_ns[CONCURRENCY_CLASS_COUNT] += cpu_ns;
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

/* Processes by their threads' accounts. */
static void collect_programs(struct grouping *grouping)
{
	const struct report_input *input = grouping->input;
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		const char *name = tally_process_name(input->reader, thread->process);
		if (tally_takes_thread(input->reader, &input->options->filter, i))
			groups_add(&grouping->groups, or_unknown(name), thread->process, i,
				   &(struct draws_part){.cpu_ns = thread->cpu_ns,
							.samples = thread->samples});
	}
}

/* Threads without a record may have waited all the time. */
static void add_lanes(struct grouping *grouping)
{
	const struct thread_states *states = grouping->states;
	for (size_t i = profile_reader_thread_count(grouping->input->reader);
	     states && i < states->lane_count; i++) {
		if (states->lanes[i].is_taken)
			add_time(grouping, "[Unknown]", NO_RECORD | BY_STATES | i, PROFILE_NONE, 0);
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
	add_lanes(grouping);
	if (grouping->rows == REPORT_GROUP_PROCESS || grouping->rows == PROGRAM)
		groups_sum_by_label(&grouping->groups);
	groups_sort(&grouping->groups);
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
	if (group->id & BY_STATES)
		return (struct owner){.tid = grouping->states->lanes[id].tid,
				      .process = PROFILE_NONE};
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

/* Fills a column of a thread's states. */
static void fill_state(const struct grouping *grouping, const struct group *group, enum value value,
		       struct table_cell *cell)
{
	const struct thread_states *states = grouping->states;
	bool is_lane = group->id != NO_OWNER && (!(group->id & NO_RECORD) || group->id & BY_STATES);
	cell->is_unknown = !states || !is_lane;
	if (cell->is_unknown)
		return;
	const struct thread_state_lane *lane = &states->lanes[(uint32_t)group->id];
	const uint64_t numbers[] = {
		[VALUE_WAIT] = lane->ns[PROFILE_STATE_BLOCKED],
		[VALUE_READY] = lane->ns[PROFILE_STATE_READY],
		[VALUE_STOPPED] = lane->ns[PROFILE_STATE_STOPPED],
		[VALUE_STATE_UNKNOWN] = lane->ns[PROFILE_STATE_UNKNOWN],
		[VALUE_GUESSED] = lane->guessed_ns,
		[VALUE_RUNNING] = lane->ns[PROFILE_STATE_RUNNING],
		[VALUE_LIFE] = thread_states_life_ns(lane),
		[VALUE_WAITS] = lane->waits,
	};
	cell->number = numbers[value];
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
		cell->is_unknown = !owner.is_known && (value == VALUE_PID || owner.tid == 0);
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
	case VALUE_READY:
	case VALUE_STOPPED:
	case VALUE_STATE_UNKNOWN:
	case VALUE_GUESSED:
	case VALUE_RUNNING:
	case VALUE_LIFE:
	case VALUE_WAITS:
		fill_state(grouping, group, value, cell);
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
	case VALUE_MODULE:
	case VALUE_FULL:
	case VALUE_FILE:
	case VALUE_START:
	case VALUE_SOURCE:
		fill_function(input->functions, group, value, cell);
		break;
	default:
		cell->is_unknown = grouping->groups.known_ns == 0;
		cell->number = groups_of_class(&grouping->groups, group, value - VALUE_IDLE);
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

/* Whether people want to see a column of states or classes: some thread has some. */
static bool has_any(const struct grouping *grouping, enum value value)
{
	if (value >= VALUE_IDLE)
		return grouping->groups.class_ns[value - VALUE_IDLE] > 0;
	bool is_rare =
		value == VALUE_STOPPED || value == VALUE_STATE_UNKNOWN || value == VALUE_GUESSED;
	const struct thread_states *states = grouping->states;
	for (size_t i = 0; is_rare && i < states->lane_count; i++) {
		const struct thread_state_lane *lane = &states->lanes[i];
		uint64_t ns = value == VALUE_STOPPED   ? lane->ns[PROFILE_STATE_STOPPED]
			      : value == VALUE_GUESSED ? lane->guessed_ns
						       : lane->ns[PROFILE_STATE_UNKNOWN];
		if (ns >= SHOWN_MIN_NS)
			return true;
	}
	return !is_rare;
}

/* The columns that the rows and the result have. */
static size_t choose_columns(struct grouping *grouping)
{
	size_t count = 0;
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		const struct group_column *column = &group_columns[i];
		bool is_of_states = column->value >= VALUE_READY || column->value == VALUE_WAIT;
		bool has_states = column->value >= VALUE_IDLE ? grouping->groups.known_ns > 0
							      : grouping->states != NULL;
		if (!(column->rows & BY(grouping->rows)) ||
		    (is_of_states && !has_states && column->value != VALUE_WAIT))
			continue;
		grouping->columns[count] = column->column;
		if (is_of_states && (!has_states || !has_any(grouping, column->value)))
			grouping->columns[count].audience &= ~TABLE_SHOWN;
		grouping->values[count++] = column->value;
	}
	return count;
}

/* limit: of the rows; 0: all. states: of rows by THREAD_LIFE; NULL: there are none. */
static void make_table(struct grouping *grouping, const struct report_input *input, unsigned rows,
		       const struct thread_states *states, uint32_t limit)
{
	*grouping = (struct grouping){.input = input,
				      .rows = rows,
				      .states = states,
				      .target = report_target(input)};
	if (rows == REPORT_GROUP_PID)
		grouping->commands = tally_command_lines(input->reader);
	collect_groups(grouping);
	groups_sum_classes(&grouping->groups);
	size_t count = choose_columns(grouping);
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
	groups_finish(&grouping->groups);
	free(grouping->commands);
}

static void print_groups(const struct report_input *input, unsigned rows,
			 const struct thread_states *states, FILE *stream, unsigned width)
{
	struct grouping grouping;
	make_table(&grouping, input, rows, states, input->options->limit);
	report_print_table(input, &grouping.table, 0, stream, width);
	finish_table(&grouping);
}

TBRW_U32 report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_groups(input, input->options->group, NULL, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_modules_print(const struct report_input *input, FILE *stream, unsigned width)
{
	print_groups(input, MODULE_PATH, NULL, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_threads_print(const struct report_input *input, FILE *stream, unsigned width)
{
	const struct filter *filter = &input->options->filter;
	struct thread_states states;
	/* States are of whole threads, and of all of the time. */
	if (profile_reader_states(input->reader) == 0 || filter_needs_function(filter) ||
	    filter_has_times(filter)) {
		print_groups(input, THREAD_LIFE, NULL, stream, width);
		return VT_SUCCESS;
	}
	thread_states_init(&states, input->reader, filter);
	TBRW_U32 code = thread_states_read_all(&states, NULL, NULL);
	if (code == VT_SUCCESS)
		print_groups(input, THREAD_LIFE, &states, stream, width);
	thread_states_finish(&states);
	return code;
}

void report_top_functions(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width)
{
	struct grouping grouping;
	make_table(&grouping, input, REPORT_GROUP_FUNCTION, NULL, limit);
	report_print_as(input, &grouping.table, table_format_find("text"), stream, width);
	finish_table(&grouping);
}

void report_top_programs(const struct report_input *input, uint32_t limit, FILE *stream,
			 unsigned width)
{
	struct grouping grouping;
	if (filter_needs_function(&input->options->filter) ||
	    filter_has_times(&input->options->filter))
		return;
	make_table(&grouping, input, PROGRAM, NULL, limit);
	if (grouping.groups.count > 1) {
		fputs("\nTop Programs\n", stream);
		report_print_as(input, &grouping.table, table_format_find("text"), stream, width);
	}
	finish_table(&grouping);
}
