#include "collector/message/failure.h"
#include "collector/result/result.h"
#include "tools/cli/arguments.h"
#include "tools/convert/command.h"
#include "tools/convert/import_external.h"
#include "tools/convert/interrupt.h"
#include "tools/convert/progress.h"
#include "tools/import/importer.h"
#include "tools/import_stacks/import_stacks.h"
#include "tools/memory/xalloc.h"
#include "tools/perf_import/import_perf.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/suggest.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The readers, in the order of their questions: text behind formats with a magic number. A row of
 * NULL ends the table. */
static const struct importer importers[] = {
	{"perf.data", import_perf_recognizes, import_perf_read, .has_symbols = false},
	{"pprof", import_pprof_recognizes, import_pprof_read, .has_symbols = true},
	{"folded stacks", import_folded_recognizes, import_folded_read, .has_symbols = true},
	{0},
};

#define IMPORT_HELP "tbconvert import --help"
#define LAST_WORDS  "stopped; no result is left of what was not imported whole"
#define EVENTS_MAX  32u /* events of a file that become results in one call */

#define IMPORTERS_SIZE (sizeof(importers) / sizeof(importers[0]))

struct import_request {
	const char *directory; /* NULL: the next free one here */
	struct import_input input;
	uint8_t head[IMPORT_HEAD_SIZE];
	const struct importer *importer;
	struct import_events events; /* of the file, once it was read */
	struct progress progress;
};

static const struct option long_options[] = {
	{"result-dir", required_argument, NULL, 'r'},
	{"event", required_argument, NULL, 'e'},
	{"no-collapse", no_argument, NULL, 'n'},
	{0},
};

/* Returns 0, or the exit status. */
static int parse_options(int argc, char **argv, struct import_request *request)
{
	int option;
	while ((option = getopt_long(argc, argv, ":r:", long_options, NULL)) != -1) {
		if (option == 'r')
			request->directory = optarg;
		else if (option == 'e')
			request->input.event = optarg;
		else if (option == 'n')
			request->input.keeps_recursion = true;
		else
			return arguments_bad_option(option, argv, IMPORT_HELP);
	}
	return 0;
}

static int explain_input(const struct import_input *input, const char *why)
{
	const char *names[IMPORTERS_SIZE] = {NULL};
	for (size_t i = 0; i < IMPORTERS_SIZE; i++)
		names[i] = importers[i].name;
	char *list = suggest_list(names);
	diagnose("cannot import %s: %s; name a file of %s", input->name, why, list);
	free(list);
	return EXIT_FAILURE;
}

/* External data needs a result to go to. */
static int explain_unknown(const struct import_input *input)
{
	if (!import_external_is_csv(input->name))
		return explain_input(input, "its format is not known");
	diagnose("cannot import %s: a CSV file goes into a result; see tbconvert import RESULT %s",
		 input->name, input->name);
	return EXIT_USAGE;
}

/* Opens the file and reads its head. Returns 0, or the exit status. */
static int open_input(struct import_request *request, const char *name)
{
	struct import_input *input = &request->input;
	struct stat status;
	input->name = name;
	input->fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (input->fd < 0 || fstat(input->fd, &status) != 0)
		return explain_input(input, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return explain_input(input, S_ISDIR(status.st_mode) ? "it is a directory"
								    : "it is no regular file");
	ssize_t size = pread(input->fd, request->head, sizeof(request->head), 0);
	if (size < 0)
		return explain_input(input, strerror(errno));
	if (size == 0)
		return explain_input(input, "it is empty");
	input->size = (uint64_t)status.st_size;
	input->head = request->head;
	input->head_size = (size_t)size;
	return 0;
}

static const struct importer *find_importer(const struct import_input *input)
{
	const struct importer *importer = importers;
	while (importer->name && !importer->recognizes(input->head, input->head_size))
		importer++;
	return importer->name ? importer : NULL;
}

static int explain_failure(const struct failure *failure)
{
	diagnose("%s", failure->text);
	return failure->exit_status;
}

/* Adds the symbols, as a collection's end does. The result is whole without. */
static int finalize_result(const struct result *result)
{
	char *name = xalloc_text("finalize");
	char *directory = xalloc_text(result->directory);
	char *argv[] = {name, directory, NULL};
	optind = 0; /* scan a new list of options (getopt(3)) */
	int status = command_finalize_run(2, argv);
	free(name);
	free(directory);
	return status;
}

static void remove_result(void *user)
{
	result_remove(user);
}

static void free_events(struct import_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		free(events->names[i]);
	free(events->names);
	*events = (struct import_events){0};
}

static void see_work(uint64_t done, uint64_t total, void *user)
{
	struct progress *progress = user;
	if (progress->total == 0)
		progress_begin(progress, "Importing", total);
	progress_update(progress, done);
}

/* Returns 0, or the exit status. What a signal stops leaves no result. */
static int read_input(struct import_request *request, struct result *result,
		      struct interrupt *interrupt)
{
	struct import_events events = {0};
	request->progress = (struct progress){0};
	request->input.see = see_work;
	request->input.user = &request->progress;
	interrupt_watch_with(interrupt, LAST_WORDS, remove_result, result);
	int status =
		request->importer->read(&request->input, result->through, result->file, &events);
	interrupt_hold(interrupt);
	progress_end(&request->progress);
	if (request->events.names)
		free_events(&events);
	else
		request->events = events;
	return status;
}

/* Names the new result, and its event if there are several. */
static void name_result(const struct import_request *request, const struct result *result)
{
	const struct import_input *input = &request->input;
	if (!input->event && request->events.count > 1)
		diagnose("the event %s of %s (%s) is now the result %s",
			 request->events.names[input->rank], input->name, request->importer->name,
			 result->directory);
	else
		diagnose("%s (%s) is now the result %s", input->name, request->importer->name,
			 result->directory);
}

static int write_result(struct import_request *request, struct result *result,
			struct interrupt *interrupt)
{
	struct failure failure = {0};
	int status = read_input(request, result, interrupt);
	if (status == 0 &&
	    (result_hold(result, &failure) < 0 || result_check(result, &failure) < 0))
		status = explain_failure(&failure);
	if (status != 0) {
		result_remove(result);
		interrupt_release(interrupt);
		return status;
	}
	interrupt_release(interrupt);
	if (!request->importer->has_symbols)
		status = finalize_result(result);
	name_result(request, result);
	return status;
}

/* directory: NULL: the next free one here. */
static int import_event(struct import_request *request, const char *directory)
{
	struct result result;
	struct failure failure = {0};
	struct interrupt interrupt;
	interrupt_begin(&interrupt);
	if (result_create(&result, directory, "hs", &failure) < 0) {
		interrupt_release(&interrupt);
		return explain_failure(&failure);
	}
	int status = write_result(request, &result, &interrupt);
	result_finish(&result);
	return status;
}

/* DIR-EVENT, for the caller to free: characters that are special in some file system or shell
 * become '-'. Of events with one name, later ones get their rank. NULL without a DIR. */
static char *name_directory(const struct import_request *request, size_t rank)
{
	const char *event = request->events.names[rank];
	bool is_taken = false;
	if (!request->directory)
		return NULL;
	for (size_t i = 0; i < rank; i++)
		is_taken |= strcmp(request->events.names[i], event) == 0;
	size_t length = strlen(request->directory);
	while (length > 1 && request->directory[length - 1] == '/')
		length--;
	char *name = is_taken ? xalloc_printf("%.*s-%.64s-%zu", (int)length, request->directory,
					      event, rank + 1)
			      : xalloc_printf("%.*s-%.64s", (int)length, request->directory, event);
	for (char *c = name + length; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
			    *c))
			*c = '-';
	return name;
}

/* The further events of the file, as long as none fails. */
static int import_others(struct import_request *request)
{
	size_t count = request->input.event ? 0 : request->events.count;
	int status = 0;
	for (size_t rank = 1; status == 0 && rank < count && rank < EVENTS_MAX; rank++) {
		char *directory = name_directory(request, rank);
		request->input.rank = rank;
		status = import_event(request, directory);
		free(directory);
	}
	if (status == 0 && count > EVENTS_MAX)
		diagnose("%s: %zu events with fewer samples are left out; name one with --event",
			 request->input.name, count - EVENTS_MAX);
	return status;
}

static int import_file(struct import_request *request, const char *name)
{
	int status = open_input(request, name);
	if (status != 0)
		return status;
	request->importer = find_importer(&request->input);
	if (!request->importer)
		return explain_unknown(&request->input);
	status = import_event(request, request->directory);
	return status ? status : import_others(request);
}

/* Whether the arguments are RESULT CSV...: the first is a result, or the others are CSV files. */
static bool is_external(char **names, size_t count)
{
	return count > 1 &&
	       (import_external_is_result(names[0]) || import_external_is_csv(names[1]));
}

static int import_external(const struct import_request *request, char **names, size_t count)
{
	const char *option = request->directory               ? "-r"
			     : request->input.event           ? "--event"
			     : request->input.keeps_recursion ? "--no-collapse"
							      : NULL;
	if (!option)
		return import_external_files(names[0], names + 1, count - 1);
	diagnose("import: %s is not for external data in RESULT CSV...; see " IMPORT_HELP, option);
	return EXIT_USAGE;
}

void command_import_print_options(void)
{
	puts("\n  -r, --result-dir DIR  the new result (default: the next r@@@hs here)\n"
	     "  --event NAME          only this one of perf.data's events (default: each with\n"
	     "                        samples becomes a result), or of pprof's types of values\n"
	     "  --no-collapse         keep all frames of recursion\n"
	     "\nFormats of FILE, known by their content:\n"
	     "  perf.data      perf record, also of other machines and in a pipe\n"
	     "  pprof          profile.proto of Go, gperftools and others, in gzip or not\n"
	     "  folded stacks  PROCESS;FUNCTION;...;FUNCTION COUNT: the first part of each\n"
	     "                 line is taken for a process\n"
	     "\nFormat of CSV: VTune's external data, NAME-hostname-HOST.csv.");
}

int command_import_run(int argc, char **argv)
{
	struct import_request *request = xalloc_zeroed(1, sizeof(*request));
	request->input.fd = -1;
	int status = parse_options(argc, argv, request);
	char **names = argv + optind;
	size_t count = (size_t)(argc - optind);
	if (status == 0 && is_external(names, count)) {
		status = import_external(request, names, count);
	} else if (status == 0 && count != 1) {
		diagnose("import: %s; name one file, see " IMPORT_HELP,
			 count == 0 ? "no file" : "more than one file");
		status = EXIT_USAGE;
	} else if (status == 0) {
		status = import_file(request, names[0]);
	}
	if (request->input.fd >= 0)
		close(request->input.fd);
	free_events(&request->events);
	free(request);
	return status;
}
