#include "tools/cli/arguments.h"
#include "tools/convert/command.h"
#include "tools/convert/hold.h"
#include "tools/convert/import_external.h"
#include "tools/convert/interrupt.h"
#include "tools/convert/recover.h"
#include "tools/generated/code_lives.h"
#include "tools/generated/split_frames.h"
#include "tools/memory/xalloc.h"
#include "tools/symbolization/frame_symbols.h"
#include "tools/terminal/diagnose.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finalize_options {
	const char *debug_dir; /* NULL: the system's */
	bool is_quiet;
	bool any_owner;
};

static const struct option long_options[] = {
	{"debug-dir", required_argument, NULL, 'd'},
	{"any-owner", no_argument, NULL, 'a'},
	{"quiet", no_argument, NULL, 'q'},
	{0},
};

/* Returns 0, or the exit status. */
static int parse_options(int argc, char **argv, struct finalize_options *options)
{
	int option;
	while ((option = getopt_long(argc, argv, ":q", long_options, NULL)) != -1) {
		if (option == 'd')
			options->debug_dir = optarg;
		else if (option == 'a')
			options->any_owner = true;
		else if (option == 'q')
			options->is_quiet = true;
		else
			return arguments_bad_option(option, argv, COMMAND_HELP);
	}
	return 0;
}

static const char *explain_miss(enum symbol_file_status status)
{
	switch (status) {
	case SYMBOL_FILE_MISSING:
		return "not readable";
	case SYMBOL_FILE_REPLACED:
		return "another file by now";
	default:
		return "not an ELF file";
	}
}

static const char *explain_map_miss(const struct frame_symbols_miss *miss)
{
	switch (miss->map_status) {
	case PERF_MAP_OTHER_OWNER:
		return "of another user than the process";
	case PERF_MAP_UNKNOWN_OWNER:
		return "the process ended before its user was known";
	case PERF_MAP_OLDER:
		return "older than the process";
	case PERF_MAP_REPLACED:
		return "another file by now";
	case PERF_MAP_NO_NAMES:
		return "no names could be read from it";
	default:
		return miss->is_dump ? "not there"
				     : "not there; node writes it with --perf-basic-prof, java "
				       "with -XX:+DumpPerfMapAtExit or perf-map-agent";
	}
}

/* One line, whatever is missing: the rows of the reports say the rest. */
static void report_misses(const struct frame_symbols *symbols)
{
	const size_t named = 3;
	size_t count = 0;
	char *list = xalloc_text("");
	for (size_t i = 0; i < symbols->miss_count; i++) {
		const struct frame_symbols_miss *miss = &symbols->misses[i];
		if (miss->is_map || ++count > named)
			continue;
		char *longer = xalloc_printf("%s%s%s (%s)", list, count > 1 ? ", " : "", miss->path,
					     explain_miss(miss->status));
		free(list);
		list = longer;
	}
	if (count > 0)
		diagnose("no symbols from %zu %s: %s%s; %s", count, count == 1 ? "file" : "files",
			 list, count > named ? ", ..." : "",
			 symbols->kept_count > 0 ? "what has no name yet shows as [module]"
						 : "they show as [module]");
	free(list);
}

/* One line likewise. */
static void report_map_misses(const struct frame_symbols *symbols)
{
	const struct frame_symbols_miss *first = NULL;
	size_t count = 0;
	for (size_t i = symbols->miss_count; i-- > 0;) {
		if (!symbols->misses[i].is_map)
			continue;
		first = &symbols->misses[i];
		count++;
	}
	if (!first)
		return;
	char *others = count == 1 ? xalloc_text("") : xalloc_printf(", and %zu others", count - 1);
	diagnose("no names of generated code from %s (%s)%s; it shows as [jit]", first->path,
		 explain_map_miss(first), others);
	free(others);
}

static void report_kept(const struct frame_symbols *symbols)
{
	if (symbols->kept_count > 0)
		diagnose("kept the symbols of %zu of %zu addresses as they were: the files that "
			 "are "
			 "there now say less",
			 symbols->kept_count, symbols->count);
}

static int write_symbols(const char *name, const char *path, struct frame_symbols *symbols)
{
	char text[DIAGNOSE_CODE_SIZE];
	TBRW_U32 code = frame_symbols_write(path, symbols);
	if (code == VT_SUCCESS)
		return EXIT_SUCCESS;
	const char *advice = "check its permissions and the space on its disk";
	if (code == VT_INCOMPLETE_TB5_ENCOUNTERED)
		advice = "run tbconvert recover first";
	else if (code == VT_TB5_IN_USE)
		advice = "wait for the collection to end";
	diagnose("cannot add symbols to %s: %s; %s", name, diagnose_code(code, text), advice);
	return EXIT_FAILURE;
}

static void remove_file(void *path)
{
	unlink(path);
}

/* Writes the result anew, with a frame for each function that lay at an address. */
static void split_result(const char *name, const char *path, struct profile_reader *reader,
			 const struct code_lives *lives)
{
	char text[DIAGNOSE_CODE_SIZE];
	struct split_frames split;
	struct progress progress;
	struct interrupt interrupt;
	char *temporary = xalloc_printf("%s.splitting-%d", path, (int)getpid());
	char *last_words = xalloc_printf("stopped; the result is whole, without new symbols: "
					 "finish it with tbconvert finalize %s",
					 name);
	interrupt_begin(&interrupt);
	interrupt_watch_with(&interrupt, last_words, remove_file, temporary);
	progress_begin(&progress, "Telling generated code apart",
		       profile_reader_sample_count(reader));
	split_frames_begin(&split, reader, lives);
	TBRW_U32 code = recover_copy(&split.copy, path, temporary, &progress);
	split_frames_finish(&split);
	progress_end(&progress);
	interrupt_hold(&interrupt);
	int error = code == VT_SUCCESS ? recover_move(temporary, path) : 0;
	if (code != VT_SUCCESS || error) {
		diagnose("cannot tell apart the functions that lay at %zu addresses of generated "
			 "code one after the other: %s; each address has one name",
			 code_lives_mixed_count(lives),
			 error ? strerror(error) : diagnose_code(code, text));
		unlink(temporary);
	}
	interrupt_release(&interrupt);
	free(last_words);
	free(temporary);
}

/* Opens a result whose frames stand for one function each, as far as is known. Returns 0, or the
 * exit status. */
static int open_split(const char *name, const char *path, struct profile_reader **reader,
		      struct code_lives **lives)
{
	int status = arguments_open_result(path, name, reader);
	if (status != 0)
		return status;
	*lives = code_lives_read(*reader);
	if (code_lives_mixed_count(*lives) == 0 || !profile_reader_complete(*reader))
		return 0;
	split_result(name, path, *reader, *lives);
	code_lives_destroy(*lives);
	profile_reader_close(*reader);
	status = arguments_open_result(path, name, reader);
	if (status == 0)
		*lives = code_lives_read(*reader);
	return status;
}

static void show_progress(uint64_t done, void *user)
{
	progress_update(user, done);
}

/* name: for messages. */
static int finalize_result(const char *name, const char *path,
			   const struct finalize_options *options)
{
	struct profile_reader *reader;
	struct code_lives *lives;
	struct frame_symbols symbols;
	struct progress progress;
	struct interrupt interrupt;
	int status = open_split(name, path, &reader, &lives);
	if (status != 0)
		return status;
	char *last_words = xalloc_printf("stopped; the result is whole, without new symbols: "
					 "finish it with tbconvert finalize %s",
					 name);
	interrupt_watch(&interrupt, last_words);
	progress_begin(&progress, "Reading symbols", profile_reader_frame_count(reader));
	frame_symbols_collect(&(struct frame_symbols_source){.reader = reader,
							     .lives = lives,
							     .debug_path = options->debug_dir,
							     .tell = show_progress,
							     .user = &progress},
			      &symbols);
	progress_end(&progress);
	interrupt_hold(&interrupt);
	free(last_words);
	if (!options->is_quiet) {
		report_misses(&symbols);
		report_map_misses(&symbols);
		report_kept(&symbols);
	}
	status = write_symbols(name, path, &symbols);
	interrupt_release(&interrupt);
	frame_symbols_finish(&symbols);
	code_lives_destroy(lives);
	profile_reader_close(reader);
	if (status == EXIT_SUCCESS)
		import_external_left(path, options->is_quiet);
	return status;
}

int command_finalize_run(int argc, char **argv)
{
	struct finalize_options options = {0};
	char *path = NULL;
	char *held = NULL;
	int status = parse_options(argc, argv, &options);
	if (status == 0)
		status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0 && !options.any_owner)
		status = hold_result(path, &held);
	if (status == 0)
		status = finalize_result(path, held ? held : path, &options);
	free(held);
	free(path);
	return status;
}
