/* The reports of rows: hotspots, modules, threads, and the summary's tables. */
#include "profile/read/external.h"
#include "tools/functions/filter.h"
#include "tools/groups/grouping.h"
#include "tools/memory/xalloc.h"
#include "tools/states/thread_states.h"

static TBRW_U32 print_groups(const struct report_input *input, unsigned rows,
			     const struct thread_states *states, FILE *stream, unsigned width)
{
	struct grouping grouping;
	TBRW_U32 code = grouping_make(&grouping, input, rows, states, true, input->options->limit);
	if (code == VT_SUCCESS)
		report_print_table(input, &grouping.table, 0, stream, width);
	grouping_finish(&grouping);
	return code;
}

TBRW_U32 report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width)
{
	return print_groups(input, input->options->group, NULL, stream, width);
}

char *report_refuse_hotspots(const struct report_input *input)
{
	const struct profile_reader *reader = input->reader;
	uint32_t count = profile_reader_series_count(reader);
	uint32_t i = 0;
	if (input->options->group != REPORT_GROUP_TASK)
		return NULL;
	while (i < count && profile_reader_series(reader, i)->kind != PROFILE_SERIES_TASK)
		i++;
	return i < count ? NULL
			 : xalloc_text("--group-by task: the result has no tasks; import some with "
				       "tbconvert import, or use another group");
}

TBRW_U32 report_modules_print(const struct report_input *input, FILE *stream, unsigned width)
{
	return print_groups(input, GROUPING_PATHS, NULL, stream, width);
}

TBRW_U32 report_threads_print(const struct report_input *input, FILE *stream, unsigned width)
{
	const struct filter *filter = &input->options->filter;
	struct thread_states states;
	/* States are of whole threads, and of all of the time. */
	if (profile_reader_states(input->reader) == 0 || filter_needs_function(filter) ||
	    filter_has_times(filter))
		return print_groups(input, GROUPING_LIVES, NULL, stream, width);
	thread_states_init(&states, input->reader, filter);
	TBRW_U32 code = thread_states_read_all(&states, NULL, NULL);
	if (code == VT_SUCCESS)
		code = print_groups(input, GROUPING_LIVES, &states, stream, width);
	thread_states_finish(&states);
	return code;
}

void report_top_functions(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width)
{
	struct grouping grouping;
	grouping_make(&grouping, input, REPORT_GROUP_FUNCTION, NULL, false, limit);
	report_print_as(input, &grouping.table, table_format_find("text"), stream, width);
	grouping_finish(&grouping);
}

void report_top_programs(const struct report_input *input, uint32_t limit, FILE *stream,
			 unsigned width)
{
	struct grouping grouping;
	if (filter_needs_function(&input->options->filter) ||
	    filter_has_times(&input->options->filter))
		return;
	grouping_make(&grouping, input, GROUPING_PROGRAMS, NULL, false, limit);
	if (grouping.groups.count > 1) {
		fputs("\nTop Programs\n", stream);
		report_print_as(input, &grouping.table, table_format_find("text"), stream, width);
	}
	grouping_finish(&grouping);
}
