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

/* Rows without time of their own come where the order is that of totals. */
static bool is_shown(const struct group *group, bool by_total)
{
	return group->added > 0 || (by_total && group->total_ns > 0);
}

static bool is_sorted_by_total(struct grouping *grouping)
{
	size_t column = report_sort_column(grouping->input, &grouping->table);
	return column != SIZE_MAX && grouping->values[column] == GROUPING_TOTAL;
}

TBRW_U32 grouping_make(struct grouping *grouping, const struct report_input *input, unsigned rows,
		       const struct thread_states *states, bool with_totals, uint32_t limit)
{
	*grouping = (struct grouping){.input = input,
				      .rows = rows,
				      .with_totals = with_totals,
				      .states = states,
				      .target = report_target(input)};
	if (rows == REPORT_GROUP_PID)
		grouping->commands = tally_command_lines(input->reader);
	TBRW_U32 code = grouping_collect(grouping);
	groups_sum_classes(&grouping->groups);
	grouping_label_sites(grouping);
	size_t count = grouping_choose_columns(grouping);
	uint64_t total_ns = sum_all(grouping);
	table_init(&grouping->table, grouping->columns, count);
	bool by_total = is_sorted_by_total(grouping);
	for (size_t i = 0; i < grouping->groups.count && (limit == 0 || i < limit); i++) {
		if (!is_shown(&grouping->groups.groups[i], by_total))
			continue;
		struct table_cell *row = table_add_row(&grouping->table);
		for (size_t k = 0; k < count; k++)
			grouping_fill_cell(grouping, &grouping->groups.groups[i], total_ns,
					   grouping->values[k], &row[k]);
	}
	return code;
}

void grouping_finish(struct grouping *grouping)
{
	table_finish(&grouping->table);
	for (size_t i = 0; grouping->labels && i < grouping->groups.count; i++)
		free(grouping->labels[i]);
	free(grouping->labels);
	free(grouping->sites);
	index_map_finish(&grouping->site_map);
	free(grouping->group_of_function);
	groups_finish(&grouping->groups);
	free(grouping->commands);
}
