#include "tools/cli/arguments.h"

#include "tools/cli/find_result.h"
#include "tools/terminal/diagnose.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

int arguments_find_result(const char *result, const char *doubt, char **path)
{
	enum find_result_status status = find_result(result, path);
	if (status == FIND_RESULT_FOUND)
		return 0;
	if (doubt && status == FIND_RESULT_MISSING && !find_result_is_name(result)) {
		diagnose("%s", doubt);
		return EXIT_USAGE;
	}
	diagnose("%s: %s", result ? result : "no result", find_result_explain(status));
	return EXIT_FAILURE;
}

int arguments_find_remaining(int argc, char **argv, char **path)
{
	if (argc > 1) {
		diagnose("%s: one argument too many; name one result", argv[1]);
		return EXIT_USAGE;
	}
	return arguments_find_result(argc > 0 ? argv[0] : NULL, NULL, path);
}

int arguments_open_result(const char *path, const char *name, struct profile_reader **reader)
{
	char text[DIAGNOSE_CODE_SIZE];
	TBRW_U32 code = profile_reader_open(path, reader);
	if (code == VT_SUCCESS)
		return 0;
	diagnose("cannot read %s: %s; name a result of tbcollect", name, diagnose_code(code, text));
	return EXIT_FAILURE;
}

static int explain_output(const char *path, int error, const char *advice)
{
	if (error)
		diagnose("cannot write %s: %s; %s", output_name(path), strerror(error), advice);
	return error ? EXIT_FAILURE : 0;
}

int arguments_open_output(struct output *output, const char *path)
{
	return explain_output(path, output_open(output, path), "choose another place with -o");
}

int arguments_finish_output(struct output *output, const char *path)
{
	return explain_output(path, output_finish(output),
			      "make room or choose another place with -o");
}

int arguments_bad_option(int option, char **argv, const char *help)
{
	const char *argument = argv[optind - 1];
	bool has_value = option == '?' && optopt && argument[1] == '-';
	diagnose("%s: %s; see %s", argument,
		 option == ':' ? "its value is missing"
		 : has_value   ? "it takes no value"
			       : "no such option",
		 help);
	return EXIT_USAGE;
}
