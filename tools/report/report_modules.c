#include "tools/report/groups.h"
#include "tools/report/report.h"

static const struct table_column columns[] = {
	{"Module", "module", TABLE_TEXT, TABLE_IN_ALL},
	{"Path", "path", TABLE_NAME, TABLE_IN_ALL | TABLE_OPTIONAL},
	{"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_IN_ALL},
	{"CPU %", "cpu_share", TABLE_SHARE, TABLE_IN_TEXT | TABLE_IN_JSON},
	REPORT_ERROR_SHOWN,
	{"Samples", "samples", TABLE_COUNT, TABLE_IN_ALL},
	REPORT_ERROR_EXPORTED,
};

static void collect(const struct report_input *input, struct groups *groups)
{
	struct chain chain = {0};
	for (size_t i = 0; i < input->tally.count; i++) {
		const struct tally_entry *entry = &input->tally.entries[i];
		if (!report_takes_entry(input, entry, &chain))
			continue;
		uint32_t module = functions_at(input->functions, chain_leaf(&chain))->module;
		groups_add(groups, functions_module(input->functions, module)->name, module, module,
			   &entry->sum);
	}
	chain_finish(&chain);
	if (report_shows_no_sample(&input->tally))
		groups_add(groups, REPORT_NO_SAMPLE, UINT64_MAX, UINT32_MAX,
			   &(struct draws_part){.cpu_ns = input->tally.rest_ns});
	groups_sort(groups);
}

void report_modules_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct groups groups = {0};
	struct table table;
	collect(input, &groups);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t total_ns = input->tally.cpu_ns + input->tally.rest_ns;
	uint32_t limit = input->options->limit;
	for (size_t i = 0; i < groups.count && (limit == 0 || i < limit); i++) {
		const struct group *group = &groups.groups[i];
		struct table_cell *row = table_add_row(&table);
		row[0].text = group->label;
		row[1].text = group->index == UINT32_MAX
				      ? ""
				      : functions_module(input->functions, group->index)->path;
		row[2].number = group->sum.cpu_ns;
		row[3].number = table_share(group->sum.cpu_ns, total_ns);
		report_set_error(&row[4], &row[6], &group->sum, &input->tally.draws, total_ns);
		row[5].number = group->sum.samples;
	}
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
	groups_finish(&groups);
}
