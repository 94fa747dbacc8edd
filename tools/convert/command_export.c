#include "tools/cli/arguments.h"
#include "tools/cli/output.h"
#include "tools/convert/command.h"
#include "tools/export/export.h"
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
static int parse(int argc, char **argv, struct export_request *request)
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

static int write_export(struct profile_reader *reader, const char *path,
			const struct export_request *request)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct output output;
	int status = arguments_open_output(&output, request->output);
	if (status != 0)
		return status;
	TBRW_U32 code = request->format->write(reader, &request->options, output.stream);
	if (code != VT_SUCCESS) {
		output_abandon(&output);
		diagnose("cannot read the samples of %s: %s; tbconvert recover keeps what is whole",
			 path, diagnose_code(code, text));
		return EXIT_FAILURE;
	}
	return arguments_finish_output(&output, request->output);
}

static int export(const char *path, const struct export_request *request)
{
	struct profile_reader *reader;
	int status = arguments_open_result(path, path, &reader);
	if (status != 0)
		return status;
	if (!profile_reader_complete(reader))
		diagnose("%s: incomplete, the collection did not end; exporting what was written "
			 "until then",
			 path);
	status = write_export(reader, path, request);
	profile_reader_close(reader);
	return status;
}

int command_export_run(int argc, char **argv)
{
	struct export_request request = {0};
	char *path = NULL;
	int status = parse(argc, argv, &request);
	if (status == 0 && !request.format) {
		diagnose("export: no format; name one with --to, see tbconvert --help");
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0)
		status = export(path, &request);
	free(path);
	return status;
}
