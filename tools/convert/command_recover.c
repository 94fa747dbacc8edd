#include "profile/write/writer.h"
#include "tools/cli/arguments.h"
#include "tools/convert/command.h"
#include "tools/convert/hold.h"
#include "tools/convert/recover.h"
#include "tools/convert/whole_part.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{0},
};

/* A file's name for messages, and its path. */
struct file {
	const char *name;
	char *path;
};

/* What of a file can be read; lost is 0 if it has no end, but no damage either. */
struct whole {
	uint64_t bytes;
	uint64_t lost;
};

/* Whether some chunk of a file with an end is damaged: then *whole is what is before it. */
static bool find_damage(const struct file *result, struct whole *whole)
{
	uint64_t size;
	if (profile_reader_whole_size(result->path, &whole->bytes, &size) != VT_SUCCESS)
		return false;
	whole->lost = size - whole->bytes;
	return whole->lost > 0;
}

/* Checks that nobody writes the result any more, and that something in it is missing. Returns 0, or
 * the exit status. */
static int check_abandoned(const struct file *result, struct whole *whole)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct profile_writer *writer = NULL;
	TBRW_U32 code = profile_symbol_writer_begin(result->path, &writer);
	profile_writer_abandon(writer);
	if (code == VT_INCOMPLETE_TB5_ENCOUNTERED)
		return 0;
	if ((code == VT_SUCCESS || code == VT_INVALID_SAMPLE_FILE) && find_damage(result, whole))
		return 0;
	if (code == VT_SUCCESS)
		diagnose("%s: complete already; nothing to recover", result->name);
	else if (code == VT_TB5_IN_USE)
		diagnose("%s: still being written; stop the collection instead", result->name);
	else
		diagnose("cannot recover %s: %s; %s", result->name, diagnose_code(code, text),
			 code == VT_INVALID_SAMPLE_FILE ? "nothing in it can be recovered"
							: "check its permissions");
	return EXIT_FAILURE;
}

static int recover_result(struct profile_reader *reader, const struct file *result,
			  const struct file *output)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct progress progress;
	char *temporary = xalloc_printf("%s.recovering-%d", output->path, (int)getpid());
	progress_begin(&progress, "Recovering", profile_reader_sample_count(reader));
	TBRW_U32 code = recover_write(reader, result->path, temporary, &progress);
	progress_end(&progress);
	int error = code == VT_SUCCESS ? recover_move(temporary, output->path) : 0;
	if (code != VT_SUCCESS)
		diagnose("cannot recover %s: %s; check the space on the disk of %s, or "
			 "name a file elsewhere with -o",
			 result->name, diagnose_code(code, text), output->name);
	else if (error)
		diagnose("cannot replace %s: %s; name another file with -o", output->name,
			 strerror(error));
	bool failed = code != VT_SUCCESS || error;
	if (failed)
		unlink(temporary);
	free(temporary);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int open_and_recover(const struct file *result, const struct file *output)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct profile_reader *reader;
	TBRW_U32 code = profile_reader_open(result->path, &reader);
	if (code != VT_SUCCESS) {
		diagnose("cannot read %s: %s; nothing in it can be recovered", result->name,
			 diagnose_code(code, text));
		return EXIT_FAILURE;
	}
	int status = recover_result(reader, result, output);
	profile_reader_close(reader);
	return status;
}

/* The part before the damage is read from a file of its own: it looks like one without an end. What
 * is replaced keeps a name, as much of it is lost to this program only. */
static int recover_part(const struct file *result, const struct file *output,
			const struct whole *whole)
{
	struct file part = {result->name,
			    xalloc_printf("%s.whole-%d", output->path, (int)getpid())};
	char *kept = xalloc_printf("%s.damaged", result->path);
	bool is_replaced = output == result;
	int status = EXIT_FAILURE;
	int error = whole_part_copy(result->path, part.path, whole->bytes);
	if (!error && is_replaced && link(result->path, kept) != 0) {
		error = errno;
		unlink(part.path);
	}
	if (error) {
		diagnose("cannot set %s aside: %s; name a file elsewhere with -o", result->name,
			 strerror(error));
	} else {
		status = open_and_recover(&part, output);
		unlink(part.path);
	}
	if (status == EXIT_SUCCESS)
		diagnose("%s is damaged%s: the last %" PRIu64 " of its %" PRIu64
			 " bytes are lost, what comes before is recovered",
			 result->name, is_replaced ? " (kept as *.damaged)" : "", whole->lost,
			 whole->bytes + whole->lost);
	else if (!error && is_replaced)
		unlink(kept);
	free(kept);
	free(part.path);
	return status;
}

static int recover_file(const struct file *result, const struct file *output)
{
	struct whole whole = {0, 0};
	int status = check_abandoned(result, &whole);
	if (status != 0)
		return status;
	return whole.lost > 0 ? recover_part(result, output, &whole)
			      : open_and_recover(result, output);
}

/* Without another output the result itself is replaced; only a file of our own may be. */
static int recover_path(const char *path, const char *output_name)
{
	struct file result = {path, NULL};
	struct file output = {output_name, NULL};
	int status;
	if (output_name) {
		result.path = xalloc_text(path);
		status = hold_output(output_name, &output.path);
	} else {
		status = hold_result(path, &result.path);
	}
	if (status == 0)
		status = recover_file(&result, output_name ? &output : &result);
	free(result.path);
	free(output.path);
	return status;
}

int command_recover_run(int argc, char **argv)
{
	const char *output = NULL;
	char *path = NULL;
	int option;
	while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		if (option != 'o')
			return arguments_bad_option(option, argv, COMMAND_HELP);
		output = optarg;
	}
	int status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0)
		status = recover_path(path, output);
	free(path);
	return status;
}
