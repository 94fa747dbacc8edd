#include "tools/code/report_code.h"

#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A file may be written later by so much than its program was built and begun to be collected. */
#define CHANGED_SLACK_NS INT64_C(1000000000)

static void say_unread(const char *path, int error)
{
	const char *why = error == EFBIG     ? "larger than any source file"
			  : error == ENOEXEC ? "empty, or no regular file"
					     : strerror(error);
	diagnose("%s: %s; its lines have no text: name a directory with --source-dir", path, why);
}

bool report_code_is_changed(const struct report_input *input, const struct source_text *text)
{
	uint64_t start = profile_reader_start_date_ns(input->reader);
	return start > 0 && start <= INT64_MAX &&
	       text->changed_ns - CHANGED_SLACK_NS > (int64_t)start;
}

void report_code_read(const struct report_input *input, const char *path, struct source_text *text)
{
	int error = source_text_read(text, path, input->options->source_dirs);
	if (error && path[0])
		say_unread(path, error);
	else if (!error && report_code_is_changed(input, text))
		diagnose("%s: changed after the collection; lines may not be those that ran",
			 text->path);
}

/* A function that a function of that name is inlined into; NULL: none. */
static const char *find_host(const struct report_input *input)
{
	const struct profile_reader *reader = input->reader;
	const struct filter_condition *name = &input->options->subject.conditions[0];
	for (uint32_t frame = 0; frame < profile_reader_frame_count(reader); frame++) {
		uint32_t count;
		const struct profile_symbol *symbols =
			profile_reader_symbols(reader, frame, &count);
		for (uint32_t i = 0; i + 1 < count; i++)
			if (filter_takes_name(name, profile_reader_symtext(reader, symbols[i].name),
					      profile_reader_symtext(reader, symbols[i].full)))
				return profile_reader_symtext(reader, symbols[count - 1].name);
	}
	return NULL;
}

char *report_refuse_assembly(const struct report_input *input)
{
	char *problem = report_refuse_subject(input);
	const char *host = problem ? find_host(input) : NULL;
	if (!host)
		return problem;
	free(problem);
	return xalloc_printf("assembly %s: it is inlined and has no code of its own; use tbreport "
			     "source of it, or tbreport assembly %s",
			     input->options->subject.conditions[0].value, host);
}

void report_code_say_absent(const struct report_input *input)
{
	char *miss = report_explain_miss(input);
	if (!miss)
		diagnose("%s %s: no code of it is on a stack as it is shown here; use "
			 "--call-stack-mode "
			 "all, or no filter",
			 input->options->report, input->options->subject.conditions[0].value);
	free(miss);
}
