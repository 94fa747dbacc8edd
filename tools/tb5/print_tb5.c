/* print_tb5: prints a tb5 file, read through the public TBRW API alone. */
#include "tools/tb5/print_tb5.h"

#include "tools/tb5/tb5_text.h"
#include "tools/terminal/diagnose.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "print_tb5"

static const char usage[] = "Usage: " PROGRAM " [--limit N] FILE\n"
			    "Prints every section and stream of a tb5 file.\n"
			    "\n"
			    "  -n, --limit N  print at most N entries of each section\n"
			    "  -h, --help     print this and exit\n"
			    "  -V, --version  print the version and exit\n";

static void print_all(struct printer *p, const char *path)
{
	TBRW_U32 streams = 0;
	TBRW_U32 bound = 0;
	TBRW_U32 verified = TBRW_verify(p->walk.file);
	TBRW_get_number_data_streams(p->walk.file, &streams);
	if (streams)
		TBRW_is_bound(p->walk.file, 0, &bound);
	fputs("file: ", stdout);
	print_escaped(path);
	printf("\ncomplete: %s\nstreams: %u\nbound: %s\n",
	       verified == VT_SUCCESS                      ? "yes"
	       : verified == VT_INCOMPLETE_TB5_ENCOUNTERED ? "no, it was never closed"
							   : "damaged",
	       streams, bound ? "yes" : "no");
	print_global_sections(p);
	for (TBRW_U32 n = 0; n < streams; n++)
		print_stream(p, n);
}

static int print_file(const char *path, uint64_t limit)
{
	struct printer p = {.limit = limit};
	TBRW_U32 code = tb5_text_open(&p.walk.file, path, TBRW_FILE_READ);
	if (code != VT_SUCCESS)
		return tb5_text_fail("cannot open", path, code,
				     "name a tb5 file that tbcollect wrote");
	print_all(&p, path);
	TBRW_abort_cleanup_and_close(p.walk.file);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		diagnose("cannot print: %s; free the output's device", strerror(errno));
		return EXIT_FAILURE;
	}
	return p.status;
}

static bool parse_limit(const char *text, uint64_t *limit)
{
	char *end;
	errno = 0;
	*limit = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"limit", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{NULL, 0, NULL, 0}};
	uint64_t limit = UINT64_MAX;
	int option;
	while ((option = getopt_long(argc, argv, "n:hV", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			if (parse_limit(optarg, &limit))
				break;
			diagnose("--limit %s: not a number; give a count", optarg);
			return 2;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts(PROGRAM " " TBCOLLECT_VERSION);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try '" PROGRAM " --help'.\n");
			return 2;
		}
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return 2;
	}
	return print_file(argv[optind], limit);
}
