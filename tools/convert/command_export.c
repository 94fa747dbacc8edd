#include "tools/cli/arguments.h"
#include "tools/cli/output.h"
#include "tools/convert/command.h"
#include "tools/export/export.h"
#include "tools/functions/filter.h"
#include "tools/stacks/sampled_result.h"
#include "tools/terminal/diagnose.h"
#include <getopt.h>
#include <stdlib.h>

struct export_request {
	const struct export_format *format;
	const char *output; /* NULL: standard output */
	struct export_options options;
};

static const struct option long_options[] = {
	{"to", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"threads", no_argument, NULL, 'T'},
	{0},
};

/* Returns 0, or the exit status. */
static int parse_options(int argc, char **argv, struct export_request *request)
{
	int option;
	while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		switch (option) {
		case 't':
			request->format = export_format_find(optarg);
			if (!request->format) {
				diagnose("--to %s: no such format; see tbconvert --help", optarg);
				return EXIT_USAGE;
			}
			break;
		case 'o':
			request->output = optarg;
			break;
		case 'T':
			request->options.with_threads = true;
			break;
		default:
			return arguments_bad_option(option, argv, COMMAND_HELP);
		}
	}
	return 0;
}

static int write_export(const struct sampled_result *result, const struct filter *filter,
			const struct export_request *request)
{
	struct output output;
	struct weighted_stacks stacks = {.reader = result->reader,
					 .functions = result->functions,
					 .tally = &result->tally,
					 .filter = filter,
					 .mode = CALL_PATH_ALL,
					 .with_call_path = true};
	int status = arguments_open_output(&output, request->output);
	if (status != 0)
		return status;
	request->format->write(&stacks, &request->options, output.stream);
	return arguments_finish_output(&output, request->output);
}

static int export_result(const char *path, const struct export_request *request)
{
	struct sampled_result result;
	struct filter everything = {0};
	unsigned by = request->options.with_threads ? TALLY_BY_THREAD : TALLY_BY_PROCESS;
	int status = sampled_result_open(&result, path, &everything, by, true);
	if (status != 0)
		return status;
	if (!profile_reader_complete(result.reader))
		diagnose("%s: incomplete, the collection did not end; exporting what was written "
			 "until then",
			 path);
	status = write_export(&result, &everything, request);
	sampled_result_close(&result);
	return status;
}

int command_export_run(int argc, char **argv)
{
	struct export_request request = {0};
	char *path = NULL;
	int status = parse_options(argc, argv, &request);
	if (status == 0 && !request.format) {
		diagnose("export: no format; name one with --to, see tbconvert --help");
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0)
		status = export_result(path, &request);
	free(path);
	return status;
}
