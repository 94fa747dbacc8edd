#include "tbrw/profile/writer.h"
#include "tools/convert/command.h"
#include "tools/convert/recover.h"
#include "tools/diagnose.h"
#include "tools/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{0},
};

/* The result at path must be one that nobody writes any more. Returns 0, or the exit status. */
static int check_abandoned(const char *path)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct profile_symbol_writer *writer = NULL;
	TBRW_U32 code = profile_symbol_writer_begin(path, &writer);
	profile_symbol_writer_abandon(writer);
	if (code == VT_INCOMPLETE_TB5_ENCOUNTERED)
		return 0;
	if (code == VT_SUCCESS)
		diagnose("%s: complete already; nothing to recover", path);
	else if (code == VT_TB5_IN_USE)
		diagnose("%s: still being written; stop the collection instead", path);
	else
		diagnose("cannot recover %s: %s; check its permissions", path,
			 diagnose_code(code, text));
	return EXIT_FAILURE;
}

/* On the disk before the name changes: a crash must leave one of the two files. */
static int move_into_place(const char *temporary, const char *output)
{
	int fd = open(temporary, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) != 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!error && rename(temporary, output) != 0)
		error = errno;
	return error;
}

static int recover(struct profile_reader *reader, const char *path, const char *output)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct progress progress;
	char *temporary = xalloc_printf("%s.recovering-%d", output, (int)getpid());
	progress_begin(&progress, "Recovering", profile_reader_sample_count(reader));
	TBRW_U32 code = recover_write(reader, path, temporary, &progress);
	progress_end(&progress);
	int status = EXIT_FAILURE;
	if (code != VT_SUCCESS) {
		diagnose("cannot recover %s: %s; check the space on the disk of %s", path,
			 diagnose_code(code, text), output);
		unlink(temporary);
	} else {
		int error = move_into_place(temporary, output);
		if (error) {
			diagnose("cannot replace %s: %s; name another file with -o", output,
				 strerror(error));
			unlink(temporary);
		} else {
			status = EXIT_SUCCESS;
		}
	}
	free(temporary);
	return status;
}

static int open_and_recover(const char *path, const char *output)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct profile_reader *reader;
	int status = check_abandoned(path);
	if (status != 0)
		return status;
	TBRW_U32 code = profile_reader_open(path, &reader);
	if (code != VT_SUCCESS) {
		diagnose("cannot read %s: %s; nothing in it can be recovered", path,
			 diagnose_code(code, text));
		return EXIT_FAILURE;
	}
	status = recover(reader, path, output ? output : path);
	profile_reader_close(reader);
	return status;
}

int command_recover_run(int argc, char **argv)
{
	const char *output = NULL;
	char *path = NULL;
	int option;
	while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		if (option != 'o')
			return command_bad_option(option, argv);
		output = optarg;
	}
	int status = command_locate(argc - optind, argv + optind, &path);
	if (status == 0 && !output)
		status = command_check_place(path);
	if (status == 0)
		status = open_and_recover(path, output);
	free(path);
	return status;
}
