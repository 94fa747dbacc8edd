/* What reports of threads' states need. */
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/states/concurrency.h"

uint32_t report_target(const struct report_input *input)
{
	return input->options->target > 0 ? input->options->target
					  : concurrency_default_target(input->reader);
}

char *report_refuse_states(const struct report_input *input)
{
	const struct filter *filter = &input->options->filter;
	if (profile_reader_states(input->reader) == 0)
		return xalloc_printf("%s: no states of threads: switches were not recorded; "
				     "collect with tbcollect -c concurrency",
				     input->path);
	for (size_t i = 0; i < filter->count; i++) {
		enum filter_key key = filter->conditions[i].key;
		if (key == FILTER_MODULE || key == FILTER_FUNCTION || key == FILTER_TASK ||
		    key == FILTER_STACK)
			return xalloc_printf("--filter %s=%s: states are of whole threads; use "
					     "process, pid, thread or tid",
					     filter_key_name(key), filter->conditions[i].value);
	}
	return NULL;
}
