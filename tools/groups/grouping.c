#include "tools/groups/grouping.h"

#include <stdlib.h>

/* Rows of programs have all CPU time of their processes' accounts. */
static uint64_t sum_all(const struct grouping *grouping)
{
	const struct tally *tally = &grouping->input->tally;
	uint64_t total_ns = tally->cpu_ns + tally->rest_ns;
	if (grouping_is_by_thread(grouping))
		total_ns += report_threadless_ns(grouping->input);
	if (grouping->rows == GROUPING_PROGRAMS)
		total_ns = 0;
	for (size_t i = 0; grouping->rows == GROUPING_PROGRAMS && i < grouping->groups.count; i++)
		total_ns += grouping->groups.groups[i].sum.cpu_ns;
	return total_ns;
}

void grouping_make(struct grouping *grouping, const struct report_input *input, unsigned rows,
		   const struct thread_states *states, uint32_t limit)
{
	*grouping = (struct grouping){.input = input,
				      .rows = rows,
				      .states = states,
				      .target = report_target(input)};
	if (rows == REPORT_GROUP_PID)
		grouping->commands = tally_command_lines(input->reader);
	grouping_collect(grouping);
	groups_sum_classes(&grouping->groups);
	size_t count = grouping_choose_columns(grouping);
	uint64_t total_ns = sum_all(grouping);
	table_init(&grouping->table, grouping->columns, count);
	for (size_t i = 0; i < grouping->groups.count && (limit == 0 || i < limit); i++) {
		struct table_cell *row = table_add_row(&grouping->table);
		for (size_t k = 0; k < count; k++)
			grouping_fill_cell(grouping, &grouping->groups.groups[i], total_ns,
					   grouping->values[k], &row[k]);
	}
}

void grouping_finish(struct grouping *grouping)
{
	table_finish(&grouping->table);
	groups_finish(&grouping->groups);
	free(grouping->commands);
}
