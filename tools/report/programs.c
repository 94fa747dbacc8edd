#include "tools/report/programs.h"

#include "tools/cli/xalloc.h"
#include "tools/report/groups.h"
#include <stdlib.h>

enum { COLUMN_CPU, COLUMN_SHARE, COLUMN_SAMPLES, COLUMN_PROCESSES, COLUMN_PROGRAM, COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_CPU] = {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL},
	[COLUMN_SHARE] = {"CPU %", "cpu_share", TABLE_SHARE, TABLE_ALL},
	[COLUMN_SAMPLES] = {"Samples", "samples", TABLE_COUNT, TABLE_ALL},
	[COLUMN_PROCESSES] = {"Processes", "processes", TABLE_COUNT, TABLE_ALL},
	[COLUMN_PROGRAM] = {"Program", "program", TABLE_NAME, TABLE_ALL},
};

/* One group a process: its accounts. */
static void add_threads(const struct report_input *input, struct groups *processes)
{
	for (uint32_t i = 0; i < profile_reader_thread_count(input->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(input->reader, i);
		const char *name = tally_process_name(input->reader, thread->process);
		if (filter_takes_thread(&input->options->filter, thread->pid, name, thread->tid,
					thread->name))
			groups_add(processes, name[0] ? name : "[Unknown]", thread->process, i,
				   &(struct draws_part){.cpu_ns = thread->cpu_ns,
							.samples = thread->samples});
	}
}

static void collect(const struct report_input *input, struct groups *programs)
{
	struct groups processes = {0};
	add_threads(input, &processes);
	for (size_t i = 0; i < processes.count; i++)
		groups_add(programs, processes.groups[i].label, 0, 0, &processes.groups[i].sum);
	groups_finish(&processes);
	groups_sort(programs);
}

static void fill(const struct groups *programs, uint64_t total_ns, uint32_t limit,
		 struct table *table)
{
	for (size_t i = 0; i < programs->count && (limit == 0 || i < limit); i++) {
		const struct group *program = &programs->groups[i];
		struct table_cell *row = table_add_row(table);
		row[COLUMN_CPU].number = program->sum.cpu_ns;
		row[COLUMN_SHARE].number = table_share(program->sum.cpu_ns, total_ns);
		row[COLUMN_SAMPLES].number = program->sum.samples;
		row[COLUMN_PROCESSES].number = program->added;
		row[COLUMN_PROGRAM].text = program->label;
	}
}

void programs_print(const struct report_input *input, uint32_t limit, FILE *stream, unsigned width)
{
	struct groups programs = {0};
	struct table table;
	uint64_t total_ns = 0;
	if (filter_needs_function(&input->options->filter))
		return;
	collect(input, &programs);
	for (size_t i = 0; i < programs.count; i++)
		total_ns += programs.groups[i].sum.cpu_ns;
	table_init(&table, columns, COLUMN_COUNT);
	if (programs.count > 1) {
		fputs("\nTop Programs\n", stream);
		fill(&programs, total_ns, limit, &table);
		format_text_print(&table, stream, width);
	}
	table_finish(&table);
	groups_finish(&programs);
}
