#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/text/path.h"
#include "tools/text/suggest.h"
#include <stdlib.h>

bool *report_subject_functions(const struct report_input *input)
{
	const struct filter *subject = &input->options->subject;
	uint32_t count = functions_count(input->functions);
	bool *is_subject = xalloc_zeroed(count, sizeof(*is_subject));
	for (uint32_t i = 0; i < count; i++) {
		const struct function *function = functions_at(input->functions, i);
		is_subject[i] =
			filter_takes_name(&subject->conditions[0], function->name, function->full);
	}
	return is_subject;
}

bool *report_subject_functions_of_file(const struct report_input *input)
{
	const struct filter *subject = &input->options->subject;
	uint32_t count = functions_count(input->functions);
	bool *is_subject = xalloc_zeroed(count, sizeof(*is_subject));
	for (uint32_t i = 0; i < count; i++) {
		const char *file = functions_at(input->functions, i)->file;
		is_subject[i] = file[0] && filter_takes_name(&subject->conditions[0],
							     path_base_name(file), file);
	}
	return is_subject;
}

bool report_has_subject(const struct report_input *input, const bool *is_subject)
{
	uint32_t count = functions_count(input->functions);
	uint32_t i = 0;
	while (i < count && !is_subject[i])
		i++;
	return i < count;
}

/* The message for a name that no function has. */
static char *explain_name(const struct report_input *input)
{
	uint32_t count = functions_count(input->functions);
	const char *name = input->options->subject.conditions[0].value;
	const char **names = xalloc_zeroed((size_t)count + 1, sizeof(*names));
	for (uint32_t i = 0; i < count; i++)
		names[i] = functions_at(input->functions, i)->name;
	char *advice = suggest_advise(name, names, "tbreport hotspots");
	char *problem = xalloc_printf("%s %s: no such function in the result; %s",
				      input->options->report, name, advice);
	free(advice);
	free(names);
	return problem;
}

char *report_refuse_subject(const struct report_input *input)
{
	bool *is_subject = report_subject_functions(input);
	bool has_any = report_has_subject(input, is_subject);
	free(is_subject);
	return has_any ? NULL : explain_name(input);
}
