#include "tools/cli/arguments.h"
#include "tools/cli/output.h"
#include "tools/convert/command.h"
#include "tools/formats/export_format.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/stacks/sampled_result.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/suggest.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct export_request {
	const struct export_format *format;
	const char *output; /* NULL: standard output */
	struct export_options options;
	struct filter filter;
	bool without_inlined;
};

enum { OPTION_FILTER = 256, OPTION_FROM, OPTION_INLINE, OPTION_WEIGHT, OPTION_EVENT };

static const struct option long_options[] = {
	{"to", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"threads", no_argument, NULL, 'T'},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"from", required_argument, NULL, OPTION_FROM},
	{"inline", required_argument, NULL, OPTION_INLINE},
	{"weight", required_argument, NULL, OPTION_WEIGHT},
	{"event", required_argument, NULL, OPTION_EVENT},
	{0},
};

static const char *const weights[] = {
	[EXPORT_WEIGHT_SAMPLES] = "samples",
	[EXPORT_WEIGHT_CPU] = "cpu",
	NULL,
};

static const char *const switches[] = {[false] = "off", [true] = "on", NULL};

static char *choose_format(const struct export_format **format, const char *name)
{
	size_t chosen;
	const char **names = export_format_names();
	char *problem = suggest_choose("to", "format", names, name, &chosen);
	*format = export_format_at(chosen);
	free(names);
	return problem;
}

/* Names the option in front of the filter's problem, and frees that. */
static char *name_option(const char *option, const char *value, char *problem)
{
	char *whole = problem ? xalloc_printf("--%s %s: %s", option, value, problem) : NULL;
	free(problem);
	return whole;
}

static bool is_time(const char *value)
{
	return value[0] == '.' || (value[0] >= '0' && value[0] <= '9');
}

/* Takes the value of an option. Returns NULL, or the problem's text for the caller to free. */
static char *take_option(struct export_request *request, int option, const char *value)
{
	size_t chosen = 0;
	char *problem;
	switch (option) {
	case 'T':
		request->options.with_threads = true;
		return NULL;
	case 't':
		/* Of a format, or the end of the time. */
		return is_time(value)
			       ? name_option("to", value, filter_set_to(&request->filter, value))
			       : choose_format(&request->format, value);
	case OPTION_FILTER:
		return name_option("filter", value, filter_add(&request->filter, value));
	case OPTION_FROM:
		return name_option("from", value, filter_set_from(&request->filter, value));
	case OPTION_INLINE:
		problem = suggest_choose("inline", "choice", switches, value, &chosen);
		request->without_inlined = !chosen;
		return problem;
	case OPTION_WEIGHT:
		problem = suggest_choose("weight", "weight", weights, value, &chosen);
		request->options.weight = (enum export_weight)chosen;
		return problem;
	case OPTION_EVENT:
		request->options.event = value;
		return NULL;
	default:
		request->output = value;
		return NULL;
	}
}

/* Returns 0, or the exit status. */
static int parse_options(int argc, char **argv, struct export_request *request)
{
	int option;
	while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return arguments_bad_option(option, argv, COMMAND_HELP);
		char *problem = take_option(request, option, optarg);
		if (problem) {
			diagnose("%s", problem);
			free(problem);
			return EXIT_USAGE;
		}
	}
	return 0;
}

static int write_folder(struct weighted_stacks *stacks, const char *path,
			const struct export_request *request)
{
	int error;
	TBRW_U32 code =
		request->format->write_files(stacks, &request->options, request->output, &error);
	if (code != VT_SUCCESS)
		return sampled_result_explain(path, code);
	if (!error)
		return 0;
	diagnose("cannot write to the folder %s: %s", request->output, strerror(error));
	return EXIT_FAILURE;
}

static int write_export(const struct sampled_result *result, const char *path,
			const struct export_request *request)
{
	struct output output;
	struct weighted_stacks stacks = {.reader = result->reader,
					 .functions = result->functions,
					 .tally = &result->tally,
					 .filter = &request->filter,
					 .mode = CALL_PATH_ALL,
					 .with_call_path = true};
	if (request->format->write_files)
		return write_folder(&stacks, path, request);
	int status = arguments_open_output(&output, request->output);
	if (status != 0)
		return status;
	if (request->format->is_binary && output.is_terminal) {
		output_abandon(&output);
		diagnose("export: %s is not for a terminal; name a file with -o",
			 request->format->name);
		return EXIT_USAGE;
	}
	TBRW_U32 code = request->format->write(&stacks, &request->options, output.stream);
	if (code == VT_SUCCESS)
		return arguments_finish_output(&output, request->output);
	output_abandon(&output);
	return sampled_result_explain(path, code);
}

/* Tells what the export lacks. Returns 0, or the exit status. */
static int check_result(const struct sampled_result *result, const char *path,
			const struct export_request *request)
{
	bool needs_times = filter_has_times(&request->filter);
	if (!profile_reader_complete(result->reader))
		diagnose("%s: incomplete, the collection did not end; exporting what was written "
			 "until then",
			 path);
	if (profile_reader_clock_count(result->reader) > 0)
		return 0;
	if (needs_times) {
		diagnose("%s: its samples have no times; leave out --from and --to TIME", path);
		return EXIT_FAILURE;
	}
	if (request->format->write_files) {
		diagnose("%s: its samples have no times; choose another format than %s", path,
			 request->format->name);
		return EXIT_FAILURE;
	}
	if (request->format->by & TALLY_ONE_BY_ONE)
		diagnose("%s: its samples have no times; the export shows them one after the other",
			 path);
	return 0;
}

static int export_result(const char *path, const struct export_request *request)
{
	struct sampled_result result;
	unsigned by = request->format->by | (request->options.with_threads ? TALLY_BY_THREAD : 0);
	int status =
		sampled_result_open(&result, path, &request->filter, by, !request->without_inlined);
	if (status != 0)
		return status;
	status = check_result(&result, path, request);
	if (status == 0)
		status = write_export(&result, path, request);
	sampled_result_close(&result);
	return status;
}

int command_export_run(int argc, char **argv)
{
	struct export_request request = {0};
	char *path = NULL;
	int status = parse_options(argc, argv, &request);
	if (status == 0 && !request.format) {
		diagnose("export: no format; name one with --to, see " COMMAND_HELP);
		status = EXIT_USAGE;
	}
	if (status == 0 && request.format->write_files &&
	    (!request.output || strcmp(request.output, "-") == 0)) {
		diagnose("export: %s is several files; name their folder with -o DIR",
			 request.format->name);
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0)
		status = export_result(path, &request);
	filter_finish(&request.filter);
	free(path);
	return status;
}
