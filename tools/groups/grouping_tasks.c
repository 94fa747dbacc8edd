/* The rows by task. */
#include "profile/read/external.h"
#include "tools/functions/filter.h"
#include "tools/groups/grouping.h"
#include "tools/intervals/spans.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

#define NO_TASK "[Outside any task]"

struct tasks {
	struct grouping *grouping;
	struct spans spans;
	uint32_t *group_of_series; /* tasks of one name are a group */
	uint32_t no_task;          /* group */
	size_t number;             /* of the sample */
	uint64_t cpu_ns;
};

static uint32_t choose_group(const struct profile_interval *interval, void *user)
{
	const struct tasks *tasks = user;
	return tasks->group_of_series[interval->series];
}

static void name_tasks(struct tasks *tasks)
{
	const struct profile_reader *reader = tasks->grouping->input->reader;
	struct groups *groups = &tasks->grouping->groups;
	uint32_t count = profile_reader_series_count(reader);
	tasks->group_of_series = xalloc_zeroed(count, sizeof(*tasks->group_of_series));
	for (uint32_t i = 0; i < count; i++)
		tasks->group_of_series[i] =
			profile_reader_series(reader, i)->kind == PROFILE_SERIES_TASK
				? groups_find(groups, profile_reader_series_name(reader, i), 0, 0)
				: SPANS_NOT;
	/* By its id apart from a task of that name. */
	tasks->no_task = groups_find(groups, NO_TASK, GROUPING_NO_OWNER, 0);
}

static bool add_total(uint32_t group, void *user)
{
	struct tasks *tasks = user;
	groups_add_total(&tasks->grouping->groups, group, tasks->cpu_ns, tasks->number);
	return true;
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct tasks *tasks = user;
	const struct profile_sample_info *info = sample->info;
	struct draws_part part = {.cpu_ns = sample->cpu_ns + sample->kernel_ns,
				  .samples = sample->is_kernel_only ? 0 : 1};
	if (!sample->is_kernel_only)
		draws_add_sample(&part.draws, sample->cpu_ns);
	tasks->cpu_ns = part.cpu_ns;
	tasks->number++;
	spans_at(&tasks->spans, info->pid, info->tid, info->tsc, add_total, tasks);
	uint32_t group = spans_innermost(&tasks->spans, info->pid, info->tid, info->tsc);
	if (group == SPANS_NOT) {
		group = tasks->no_task;
		add_total(group, tasks);
	}
	struct group *added = groups_add_at(&tasks->grouping->groups, group, &part);
	added->class_ns[GROUPS_CLASS_COUNT] += part.cpu_ns;
	return true;
}

/* Nobody knows when a thread used time in no sample, also that in the kernel. */
static void add_rests(struct tasks *tasks, struct weighted_stacks *stacks)
{
	const struct report_input *input = tasks->grouping->input;
	uint64_t rest_ns = 0;
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		struct weighted_stacks_rest rest = weighted_stacks_take_rest(stacks, i);
		if (tally_takes_thread(input->reader, &input->options->filter, i))
			rest_ns += rest.kernel_ns + rest.unseen_ns;
	}
	if (rest_ns == 0 || filter_has_times(&input->options->filter))
		return;
	struct group *group =
		groups_add(&tasks->grouping->groups, TALLY_NO_SAMPLE, GROUPING_NO_OWNER, 0,
			   &(struct draws_part){.cpu_ns = rest_ns});
	group->class_ns[GROUPS_CLASS_COUNT] += rest_ns;
	group->total_ns += rest_ns;
}

TBRW_U32 grouping_add_tasks(struct grouping *grouping)
{
	struct tasks tasks = {.grouping = grouping};
	struct weighted_stacks stacks = report_stacks(grouping->input, true);
	name_tasks(&tasks);
	TBRW_U32 code = spans_load(&tasks.spans, grouping->input->reader, choose_group, &tasks);
	if (code == VT_SUCCESS)
		code = weighted_stacks_each_sample(&stacks, take_sample, &tasks);
	if (code == VT_SUCCESS)
		add_rests(&tasks, &stacks);
	weighted_stacks_finish(&stacks);
	spans_finish(&tasks.spans);
	free(tasks.group_of_series);
	return code;
}
