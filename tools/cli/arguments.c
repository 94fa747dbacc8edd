#include "tools/cli/arguments.h"

#include "tools/cli/diagnose.h"
#include "tools/cli/locate.h"
#include <getopt.h>
#include <stdlib.h>

int arguments_locate(int argc, char **argv, char **path)
{
	if (argc > 1) {
		diagnose("%s: one argument too many; name one result", argv[1]);
		return EXIT_USAGE;
	}
	enum locate_status status = locate_result(argc > 0 ? argv[0] : NULL, path);
	if (status == LOCATE_FOUND)
		return 0;
	diagnose("%s: %s", argc > 0 ? argv[0] : "no result", locate_explain(status));
	return EXIT_FAILURE;
}

int arguments_bad_option(int option, char **argv, const char *help)
{
	diagnose("%s: %s; see %s", argv[optind - 1],
		 option == ':' ? "its value is missing" : "no such option", help);
	return EXIT_USAGE;
}
