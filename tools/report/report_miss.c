/* The message for a user whose filter leaves no samples, or whose result has no waits. */
#include "profile/read/external.h"
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/text/suggest.h"
#include "tools/waits/waits.h"
#include <stdlib.h>

/* Names, and the other names of objects with two: of modules the paths, of functions the names with
 * parameters. */
struct names {
	const char **names; /* NULL behind the last one */
	const char **others;
	size_t count;
};

static void add_name(struct names *names, const char *name, const char *other)
{
	names->names[names->count] = name;
	names->others[names->count++] = other;
}

/* Collects all names for a condition of the key. */
static void collect_names(const struct report_input *input, enum filter_key key,
			  struct names *names)
{
	const struct profile_reader *reader = input->reader;
	size_t most = (size_t)profile_reader_process_count(reader) +
		      profile_reader_thread_count(reader) + functions_dso_count(input->functions) +
		      functions_count(input->functions) + profile_reader_series_count(reader);
	names->names = xalloc_zeroed(most + 1, sizeof(*names->names));
	names->others = xalloc_zeroed(most + 1, sizeof(*names->others));
	names->count = 0;
	for (uint32_t i = 0; key == FILTER_PROCESS && i < profile_reader_process_count(reader); i++)
		add_name(names, profile_reader_process(reader, i)->name, NULL);
	for (uint32_t i = 0; key == FILTER_THREAD && i < profile_reader_thread_count(reader); i++)
		add_name(names, profile_reader_thread(reader, i)->name, NULL);
	for (uint32_t i = 0; key == FILTER_MODULE && i < functions_dso_count(input->functions); i++)
		add_name(names, functions_dso(input->functions, i)->name,
			 functions_dso(input->functions, i)->path);
	for (uint32_t i = 0; (key == FILTER_FUNCTION || key == FILTER_STACK) &&
			     i < functions_count(input->functions);
	     i++)
		add_name(names, functions_at(input->functions, i)->name,
			 functions_at(input->functions, i)->full);
	for (uint32_t i = 0; key == FILTER_TASK && i < profile_reader_series_count(reader); i++)
		if (profile_reader_series(reader, i)->kind <= PROFILE_SERIES_TASK)
			add_name(names, profile_reader_series_name(reader, i), NULL);
}

static bool is_id_known(const struct profile_reader *reader,
			const struct filter_condition *condition)
{
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(reader, i);
		if (condition->number == (condition->key == FILTER_PID ? thread->pid : thread->tid))
			return true;
	}
	return false;
}

/* The problem of the condition by itself, NULL for none. */
static char *explain_condition(const struct report_input *input,
			       const struct filter_condition *condition)
{
	static const char *const lists[] = {
		[FILTER_PROCESS] = "tbreport hotspots --group-by process",
		[FILTER_PID] = "tbreport hotspots --group-by pid",
		[FILTER_THREAD] = "tbreport threads",
		[FILTER_TID] = "tbreport threads",
		[FILTER_MODULE] = "tbreport modules",
		[FILTER_FUNCTION] = "tbreport hotspots",
		[FILTER_TASK] = "tbreport tasks",
		[FILTER_STACK] = "tbreport top-down",
	};
	const char *key = filter_key_name(condition->key);
	struct names names;
	bool is_id = condition->key == FILTER_PID || condition->key == FILTER_TID;
	if (is_id)
		return is_id_known(input->reader, condition)
			       ? NULL
			       : xalloc_printf("--filter %s=%s: no such %s in the result; see %s",
					       key, condition->value, key, lists[condition->key]);
	collect_names(input, condition->key, &names);
	size_t i = 0;
	while (i < names.count && !filter_takes_name(condition, names.names[i], names.others[i]))
		i++;
	char *problem = NULL;
	if (i == names.count) {
		char *advice = suggest_advise(condition->value, names.names, lists[condition->key]);
		problem = xalloc_printf("--filter %s=%s: no such %s in the result; %s", key,
					condition->value, key, advice);
		free(advice);
	}
	free(names.names);
	free(names.others);
	return problem;
}

static bool has_samples(const struct report_input *input)
{
	struct weighted_stacks at = report_stacks(input, true);
	bool found = weighted_stacks_next(&at);
	weighted_stacks_finish(&at);
	return found;
}

/* Whether samples meet the filter by functions hidden in the modes user-plus-one and user-only. */
static bool is_hidden_by_mode(const struct report_input *input)
{
	struct report_options options = *input->options;
	struct report_input all = *input;
	options.mode = CALL_PATH_ALL;
	all.options = &options;
	return input->options->mode != CALL_PATH_ALL && has_samples(&all);
}

/* The problem of the first condition that nothing in the result meets, NULL for none. */
static char *explain_conditions(const struct report_input *input)
{
	const struct filter *filter = &input->options->filter;
	char *problem = NULL;
	for (size_t i = 0; i < filter->count && !problem; i++)
		problem = explain_condition(input, &filter->conditions[i]);
	return problem;
}

static bool has_waits(const struct report_input *input)
{
	struct waits waits;
	if (result_waits_collect(&waits, input->reader, input->functions, &input->options->filter,
				 0) != VT_SUCCESS)
		return true; /* the report says so itself */
	bool found = waits.count > 0;
	result_waits_finish(&waits);
	return found;
}

/* Threads without samples have states too. */
char *report_explain_states(const struct report_input *input)
{
	return explain_conditions(input);
}

static bool has_series(const struct report_input *input, uint32_t first, uint32_t last)
{
	for (uint32_t i = 0; i < profile_reader_series_count(input->reader); i++) {
		uint32_t kind = profile_reader_series(input->reader, i)->kind;
		if (kind >= first && kind <= last)
			return true;
	}
	return false;
}

char *report_explain_tasks(const struct report_input *input)
{
	if (has_series(input, PROFILE_SERIES_FRAME, PROFILE_SERIES_TASK))
		return report_explain_miss(input);
	return xalloc_text("no tasks or frames were imported; add them with tbconvert import "
			   "RESULT FILE, or tbcollect --custom-collector");
}

char *report_explain_counters(const struct report_input *input)
{
	if (has_series(input, PROFILE_SERIES_COUNT, PROFILE_SERIES_INST))
		return report_explain_miss(input);
	return xalloc_text("no counters were imported; add them with tbconvert import RESULT "
			   "FILE, or tbcollect --custom-collector");
}

char *report_explain_waits(const struct report_input *input)
{
	if (profile_reader_wait_sources(input->reader) == 0)
		return xalloc_text("no waits were recorded; collect with tbcollect -c "
				   "locks-and-waits");
	if (input->options->filter.count == 0 || has_waits(input))
		return NULL;
	char *problem = explain_conditions(input);
	return problem ? problem
		       : xalloc_text("--filter: no wait meets it; module and function are those "
				     "that wait: see tbreport waits --group-by function");
}

char *report_explain_wall(const struct report_input *input)
{
	if (profile_reader_states(input->reader) == 0)
		return xalloc_text("no states of threads were recorded; collect with tbcollect -c "
				   "locks-and-waits");
	bool is_missed = input->options->filter.count > 0 && !has_waits(input);
	return is_missed ? report_explain_miss(input) : NULL;
}

char *report_explain_miss(const struct report_input *input)
{
	const struct filter *filter = &input->options->filter;
	if ((filter->count == 0 && !filter_has_times(filter)) || has_samples(input))
		return NULL;
	if (filter->count == 0)
		return xalloc_text("--from, --to: no sample lies in this part of the run; see "
				   "Elapsed Time of tbreport summary");
	char *problem = explain_conditions(input);
	if (problem)
		return problem;
	const char *missed = filter->count == 1 ? "it" : "all conditions at once";
	if (is_hidden_by_mode(input))
		return xalloc_printf("--filter: no sample meets %s where system functions count "
				     "as part of their callers; use --call-stack-mode all",
				     missed);
	return xalloc_printf("--filter: no sample meets %s; module and function are those of a "
			     "sample's own code, not of its callers: see tbreport bottom-up "
			     "--call-stack-mode all",
			     missed);
}
