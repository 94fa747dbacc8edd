/* What stands in the cells of a group's row. */
#include "tools/groups/grouping.h"
#include "tools/states/thread_states.h"
#include "tools/text/path.h"
#include <assert.h>

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
	if (group->id == GROUPING_NO_OWNER)
		return (struct owner){.process = PROFILE_NONE};
	if (grouping->rows != GROUPING_LIVES)
		return (struct owner){is_one, id, id, group->index};
	if (group->id & GROUPING_BY_STATES)
		return (struct owner){.tid = grouping->states->lanes[id].tid,
				      .process = PROFILE_NONE};
	if (group->id & GROUPING_NO_RECORD) {
		const struct tally_entry *entry = &input->tally.entries[group->index];
		return (struct owner){true, entry->pid, entry->tid, entry->process};
	}
	const struct profile_thread_info *thread =
		profile_reader_thread(input->reader, group->index);
	return (struct owner){true, thread->pid, thread->tid, thread->process};
}

/* Fills a column of functions alone. Time in no sample is like time of an unknown function. */
static void fill_function(const struct functions *functions, const struct group *group,
			  enum grouping_value value, struct table_cell *cell)
{
	bool is_known = group->id != GROUPING_NO_OWNER;
	uint32_t index = is_known ? group->index : FUNCTION_UNKNOWN;
	const struct function *function = functions_at(functions, index);
	if (value == GROUPING_MODULE)
		cell->text = functions_dso_of(functions, index)->name;
	else if (value == GROUPING_FULL)
		cell->text = is_known ? function->full : group->label;
	else if (value == GROUPING_START)
		cell->number = function->start;
	else
		cell->text =
			value == GROUPING_FILE ? path_base_name(function->file) : function->file;
	cell->is_unknown = value == GROUPING_START && function->start == 0;
}

/* Fills a column of rows by line or call site. Code without a line is of many functions. */
static void fill_site(const struct grouping *grouping, const struct group *group,
		      enum grouping_value value, struct table_cell *cell)
{
	const struct functions *functions = grouping->input->functions;
	const struct grouping_site *site = grouping_site_of(grouping, group);
	bool is_call = grouping->rows == REPORT_GROUP_CALL_SITE;
	if (!site)
		cell->text = value == GROUPING_FUNCTION ? group->label
			     : value == GROUPING_MODULE ? "[Unknown]"
							: "";
	else if (value == GROUPING_SOURCE)
		cell->text = site->file;
	else if (value == GROUPING_CALLER)
		cell->text = site->caller == PROFILE_NONE
				     ? "[No caller]"
				     : functions_at(functions, site->caller)->name;
	else if (value == GROUPING_MODULE)
		cell->text = functions_dso_of(functions, group->index)->name;
	else if (is_call || site->line > 0 || site->function > 0)
		cell->text = functions_at(functions, group->index)->name;
}

/* Fills a column of a thread's states. */
static void fill_state(const struct grouping *grouping, const struct group *group,
		       enum grouping_value value, struct table_cell *cell)
{
	const struct thread_states *states = grouping->states;
	bool is_lane = group->id != GROUPING_NO_OWNER &&
		       (!(group->id & GROUPING_NO_RECORD) || group->id & GROUPING_BY_STATES);
	cell->is_unknown = !states || !is_lane;
	if (cell->is_unknown)
		return;
	const struct thread_state_lane *lane = &states->lanes[(uint32_t)group->id];
	const uint64_t numbers[] = {
		[GROUPING_WAIT] = lane->ns[PROFILE_STATE_BLOCKED],
		[GROUPING_READY] = lane->ns[PROFILE_STATE_READY],
		[GROUPING_STOPPED] = lane->ns[PROFILE_STATE_STOPPED],
		[GROUPING_STATE_UNKNOWN] = lane->ns[PROFILE_STATE_UNKNOWN],
		[GROUPING_GUESSED] = lane->guessed_ns,
		[GROUPING_RUNNING] = lane->ns[PROFILE_STATE_RUNNING],
		[GROUPING_LIFE] = thread_states_life_ns(lane),
		[GROUPING_WAITS] = lane->waits,
	};
	cell->number = numbers[value];
}

void grouping_fill_cell(const struct grouping *grouping, const struct group *group,
			uint64_t total_ns, enum grouping_value value, struct table_cell *cell)
{
	const struct report_input *input = grouping->input;
	struct owner owner = find_owner(grouping, group);
	switch (value) {
	case GROUPING_LABEL:
		cell->text = group->label;
		break;
	case GROUPING_PATH:
		if (group->id != GROUPING_NO_OWNER)
			cell->text = functions_dso(input->functions, group->index)->path;
		break;
	case GROUPING_PID:
	case GROUPING_TID:
		cell->number = value == GROUPING_PID ? owner.pid : owner.tid;
		cell->is_unknown = !owner.is_known && (value == GROUPING_PID || owner.tid == 0);
		break;
	case GROUPING_PROCESS:
		cell->text = tally_process_name(input->reader, owner.process);
		break;
	case GROUPING_CPU:
		cell->number = group->sum.cpu_ns;
		break;
	case GROUPING_SHARE:
		cell->number = table_share(group->sum.cpu_ns, total_ns);
		break;
	case GROUPING_ERROR:
		report_set_error(cell, &group->sum, &input->tally.draws, total_ns);
		cell->is_unknown |= grouping_is_by_thread(grouping) &&
				    !filter_needs_function(&input->options->filter);
		break;
	case GROUPING_WAIT:
	case GROUPING_READY:
	case GROUPING_STOPPED:
	case GROUPING_STATE_UNKNOWN:
	case GROUPING_GUESSED:
	case GROUPING_RUNNING:
	case GROUPING_LIFE:
	case GROUPING_WAITS:
		fill_state(grouping, group, value, cell);
		break;
	case GROUPING_TOTAL:
		cell->number = group->total_ns;
		break;
	case GROUPING_SAMPLES:
		cell->number = group->sum.samples;
		break;
	case GROUPING_PROCESSES:
		cell->number = group->added;
		cell->is_unknown = group->id == GROUPING_NO_OWNER;
		break;
	case GROUPING_COMMAND:
		assert(grouping->commands);
		if (owner.process != PROFILE_NONE)
			cell->text = grouping->commands[owner.process];
		break;
	case GROUPING_MODULE:
	case GROUPING_FULL:
	case GROUPING_FILE:
	case GROUPING_START:
	case GROUPING_SOURCE:
	case GROUPING_CALLER:
	case GROUPING_FUNCTION:
		if (grouping->rows == REPORT_GROUP_SOURCE_LINE ||
		    grouping->rows == REPORT_GROUP_CALL_SITE)
			fill_site(grouping, group, value, cell);
		else
			fill_function(input->functions, group, value, cell);
		break;
	default:
		cell->is_unknown = grouping->groups.known_ns == 0;
		cell->number = groups_of_class(&grouping->groups, group, value - GROUPING_IDLE);
		break;
	}
}
