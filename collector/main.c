#include "collector/message/failure.h"
#include "collector/message/log.h"
#include "collector/options/options.h"
#include "collector/session/session.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	perror("tbcollect: cannot write to standard output");
	return EXIT_FAILURE;
}

/* Keeps our files off the numbers of closed standard streams. A launched program still finds them
 * closed. */
static void hold_standard_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options;
	struct failure failure = {0};
	int exit_status = 0;
	hold_standard_streams();
	if (options_parse(&options, argc, argv, &failure) == 0) {
		switch (options.action) {
		case OPTIONS_HELP:
			fputs(options_help(), stdout);
			return flush_output();
		case OPTIONS_VERSION:
			puts("tbcollect " TBCOLLECT_VERSION);
			return flush_output();
		case OPTIONS_COLLECT:
			if (session_run(&options, &exit_status, &failure) == 0)
				return exit_status;
			break;
		}
	}
	if (failure.text[0] != '\0')
		log_line(LOG_QUIET, LOG_QUIET, "%s", failure.text);
	return failure.exit_status;
}
