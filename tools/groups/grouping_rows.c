/* How samples and accounts add up in groups. */
#include "tools/groups/grouping.h"
#include "tools/samples/draws.h"
#include "tools/states/concurrency.h"
#include "tools/states/thread_states.h"

static bool is_by_process(const struct grouping *grouping)
{
	return grouping->rows == REPORT_GROUP_PROCESS || grouping->rows == REPORT_GROUP_PID;
}

bool grouping_is_by_thread(const struct grouping *grouping)
{
	return is_by_process(grouping) || grouping->rows == REPORT_GROUP_THREAD ||
	       grouping->rows == GROUPING_LIVES;
}

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "[Unknown]";
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
			   GROUPING_NO_RECORD | (uint64_t)entry->pid << 32 | entry->tid,
			   (uint32_t)(entry - tally->entries), &entry->sum);
}

static size_t class_of(const struct grouping *grouping, const struct tally_entry *entry)
{
	return entry->running == TALLY_RUNNING_UNKNOWN
		       ? CONCURRENCY_CLASS_COUNT
		       : concurrency_classify(entry->running, grouping->target);
}

/* The group of a process or thread. Processes are told apart by their numbers here, also for rows
 * by name. */
static struct group *add_to_owner(struct grouping *grouping, const struct tally_entry *entry)
{
	const struct profile_reader *reader = grouping->input->reader;
	bool is_thread = grouping->rows == REPORT_GROUP_THREAD;
	const char *label = or_unknown(is_thread ? tally_thread_name(reader, entry->thread)
						 : tally_process_name(reader, entry->process));
	return groups_add(&grouping->groups, label, is_thread ? entry->tid : entry->pid,
			  entry->process, &entry->sum);
}

static void add_entry(struct grouping *grouping, struct weighted_stacks *at)
{
	const struct tally_entry *entry = at->entry;
	struct group *group = grouping_is_of_code(grouping) ? grouping_add_path(grouping, at)
							    : add_to_owner(grouping, entry);
	group->class_ns[class_of(grouping, entry)] += entry->sum.cpu_ns;
}

static void add_time(struct grouping *grouping, const char *label, uint64_t id, uint32_t index,
		     uint64_t cpu_ns)
{
	struct group *group = groups_add(&grouping->groups, label, id, index,
					 &(struct draws_part){.cpu_ns = cpu_ns});
	group->class_ns[CONCURRENCY_CLASS_COUNT] += cpu_ns;
	group->total_ns += cpu_ns;
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
	if (grouping->rows == GROUPING_LIVES)
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
	if (!grouping_is_by_thread(grouping)) {
		if (report_shows_no_sample(&input->tally))
			add_time(grouping, TALLY_NO_SAMPLE, GROUPING_NO_OWNER, PROFILE_NONE,
				 input->tally.rest_ns);
		return;
	}
	if (threadless_ns > 0)
		add_time(grouping, TALLY_NO_THREAD, GROUPING_NO_OWNER, PROFILE_NONE, threadless_ns);
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
			add_time(grouping, "[Unknown]", GROUPING_NO_RECORD | GROUPING_BY_STATES | i,
				 PROFILE_NONE, 0);
	}
}

static void add_stacks(struct grouping *grouping)
{
	struct weighted_stacks at =
		report_stacks(grouping->input, grouping->rows != GROUPING_LIVES);
	while (weighted_stacks_next(&at)) {
		if (grouping->rows == GROUPING_LIVES)
			add_to_life(grouping, at.entry);
		else
			add_entry(grouping, &at);
	}
}

TBRW_U32 grouping_collect(struct grouping *grouping)
{
	TBRW_U32 code = VT_SUCCESS;
	if (grouping->rows == GROUPING_PROGRAMS)
		collect_programs(grouping);
	else if (grouping->rows == REPORT_GROUP_TASK)
		code = grouping_add_tasks(grouping);
	else
		add_stacks(grouping);
	if (grouping->rows != GROUPING_PROGRAMS && grouping->rows != REPORT_GROUP_TASK)
		add_rest(grouping);
	add_lanes(grouping);
	if (grouping->rows == REPORT_GROUP_PROCESS || grouping->rows == GROUPING_PROGRAMS)
		groups_sum_by_label(&grouping->groups);
	groups_sort(&grouping->groups);
	return code;
}
