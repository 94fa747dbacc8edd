#include "tools/report/groups.h"
#include "tools/report/report.h"

static const struct table_column columns[] = {
	{"Thread", "thread", TABLE_NAME, TABLE_IN_ALL},
	{"TID", "tid", TABLE_ID, TABLE_IN_ALL},
	{"Process", "process", TABLE_TEXT, TABLE_IN_ALL},
	{"PID", "pid", TABLE_ID, TABLE_IN_ALL},
	{"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_IN_ALL},
	{"CPU %", "cpu_share", TABLE_SHARE, TABLE_IN_TEXT | TABLE_IN_JSON},
	/* empty: sampling alone does not see waits */
	{"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_IN_CSV | TABLE_IN_JSON},
	{"Samples", "samples", TABLE_COUNT, TABLE_IN_ALL},
};

/* Marks the group id of a thread that the result has no record of; pid and tid stand below it. */
#define NO_RECORD (UINT64_C(1) << 63)
#define NO_THREAD UINT64_MAX /* the group id of the time of no known thread */

/* One group per life of a thread; of threads that the result has no record of (it was cut short),
 * one per process and thread number. index: of the thread, or of the tally entry. */
static void collect(const struct report_input *input, struct groups *groups)
{
	const struct filter *filter = &input->options->filter;
	bool by_function = filter_needs_function(filter);
	struct chain chain = {0};
	for (size_t i = 0; i < input->tally.count; i++) {
		const struct tally_entry *entry = &input->tally.entries[i];
		/* Chains take time, and each thread has its own entries. */
		if (by_function && !report_takes_entry(input, entry, &chain))
			continue;
		if (entry->thread != PROFILE_NONE)
			groups_add(groups, tally_thread_name(input->reader, entry->thread),
				   entry->thread, entry->thread, &entry->sum);
		else
			groups_add(groups, "[Unknown]",
				   NO_RECORD | (uint64_t)entry->pid << 32 | entry->tid, (uint32_t)i,
				   &entry->sum);
	}
	chain_finish(&chain);
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		if (!by_function &&
		    filter_takes_thread(filter, thread->pid,
					tally_process_name(input->reader, thread->process),
					thread->tid, thread->name))
			groups_add(groups, thread->name, i, i,
				   &(struct draws_part){.cpu_ns = input->tally.thread_rest_ns[i]});
	}
	if (report_threadless_ns(input) > 0)
		groups_add(groups, REPORT_NO_THREAD, NO_THREAD, PROFILE_NONE,
			   &(struct draws_part){.cpu_ns = report_threadless_ns(input)});
	groups_sort(groups);
}

static void fill_row(const struct report_input *input, const struct group *group, uint64_t total_ns,
		     struct table_cell *row)
{
	if (group->id == NO_THREAD) {
		row[1].is_unknown = row[3].is_unknown = true;
	} else if (!(group->id & NO_RECORD)) {
		const struct profile_thread_info *thread =
			profile_reader_thread(input->reader, group->index);
		row[1].number = thread->tid;
		row[2].text = tally_process_name(input->reader, thread->process);
		row[3].number = thread->pid;
	} else {
		const struct tally_entry *entry = &input->tally.entries[group->index];
		row[1].number = entry->tid;
		row[2].text = tally_process_name(input->reader, entry->process);
		row[3].number = entry->pid;
	}
	row[0].text = group->label;
	row[4].number = group->sum.cpu_ns;
	row[5].number = table_share(group->sum.cpu_ns, total_ns);
	row[6].is_unknown = true;
	row[7].number = group->sum.samples;
}

void report_threads_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct groups groups = {0};
	struct table table;
	collect(input, &groups);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t total_ns =
		input->tally.cpu_ns + input->tally.rest_ns + report_threadless_ns(input);
	uint32_t limit = input->options->limit;
	for (size_t i = 0; i < groups.count && (limit == 0 || i < limit); i++)
		fill_row(input, &groups.groups[i], total_ns, table_add_row(&table));
	report_print_table(input, &table, 0, stream, width);
	table_finish(&table);
	groups_finish(&groups);
}
