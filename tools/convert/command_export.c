#include "profile/read/states.h"
#include "tools/cli/arguments.h"
#include "tools/cli/output.h"
#include "tools/convert/command.h"
#include "tools/convert/import_external.h"
#include "tools/convert/interrupt.h"
#include "tools/convert/progress.h"
#include "tools/csv_export/output_folder.h"
#include "tools/formats/export_format.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/modules/module_copies.h"
#include "tools/samples/tally.h"
#include "tools/stacks/sampled_result.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/suggest.h"
#include "tools/waits/wall.h"
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_WORDS         "stopped; nothing was written"
#define LAST_WORDS_MODULES "stopped; the folder of the modules may lack files"

struct export_request {
	const struct export_format *format;
	const char *output;  /* NULL: standard output */
	const char *modules; /* folder for copies of the modules; NULL: none */
	struct export_options options;
	struct filter filter;
	bool without_inlined;
};

enum {
	OPTION_FILTER = 256,
	OPTION_FROM,
	OPTION_INLINE,
	OPTION_WEIGHT,
	OPTION_EVENT,
	OPTION_MODULES
};

static const struct option long_options[] = {
	{"to", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"threads", no_argument, NULL, 'T'},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"from", required_argument, NULL, OPTION_FROM},
	{"inline", required_argument, NULL, OPTION_INLINE},
	{"weight", required_argument, NULL, OPTION_WEIGHT},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"with-modules", required_argument, NULL, OPTION_MODULES},
	{0},
};

static const char *const weights[] = {
	[EXPORT_WEIGHT_SAMPLES - 1] = "samples",
	[EXPORT_WEIGHT_CPU - 1] = "cpu",
	[EXPORT_WEIGHT_WALL - 1] = "wall",
	[EXPORT_WEIGHT_WAIT - 1] = "wait",
	NULL,
};

static const char *const switches[] = {[false] = "off", [true] = "on", NULL};

static char *choose_format(const struct export_format **format, const char *name)
{
	size_t chosen;
	const char **names = export_format_names();
	char *problem = suggest_choose("to", "format", names, name, &chosen);
	*format = export_format_at(chosen);
	free(names);
	return problem;
}

/* Names the option in front of the filter's problem, and frees that. */
static char *name_option(const char *option, const char *value, char *problem)
{
	char *whole = problem ? xalloc_printf("--%s %s: %s", option, value, problem) : NULL;
	free(problem);
	return whole;
}

static bool is_time(const char *value)
{
	return value[0] == '.' || (value[0] >= '0' && value[0] <= '9');
}

/* Takes the value of an option. Returns NULL, or the problem's text for the caller to free. */
static char *take_option(struct export_request *request, int option, const char *value)
{
	size_t chosen = 0;
	char *problem;
	switch (option) {
	case 'T':
		request->options.with_threads = true;
		return NULL;
	case 't':
		/* Of a format, or the end of the time. */
		return is_time(value)
			       ? name_option("to", value, filter_set_to(&request->filter, value))
			       : choose_format(&request->format, value);
	case OPTION_FILTER:
		return name_option("filter", value, filter_add(&request->filter, value));
	case OPTION_FROM:
		return name_option("from", value, filter_set_from(&request->filter, value));
	case OPTION_INLINE:
		problem = suggest_choose("inline", "choice", switches, value, &chosen);
		request->without_inlined = !chosen;
		return problem;
	case OPTION_WEIGHT:
		problem = suggest_choose("weight", "weight", weights, value, &chosen);
		request->options.weight = (enum export_weight)(chosen + 1);
		return problem;
	case OPTION_EVENT:
		request->options.event = value;
		return NULL;
	case OPTION_MODULES:
		request->modules = value;
		return NULL;
	default:
		request->output = value;
		return NULL;
	}
}

/* Returns 0, or the exit status. */
static int parse_options(int argc, char **argv, struct export_request *request)
{
	int option;
	while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return arguments_bad_option(option, argv, COMMAND_HELP);
		char *problem = take_option(request, option, optarg);
		if (problem) {
			diagnose("%s", problem);
			free(problem);
			return EXIT_USAGE;
		}
	}
	return 0;
}

/* An export under way. */
struct exporting {
	const char *path; /* of the result */
	const struct export_request *request;
	struct sampled_result result;
	struct output output;
	struct interrupt interrupt;
	struct progress progress;
	uint64_t samples; /* read so far, in all readings of them */
};

static void see_samples(uint64_t samples, void *user)
{
	struct exporting *exporting = user;
	progress_update(&exporting->progress, exporting->samples += samples);
}

/* Whether stacks are of more than samples. */
static bool is_beyond_samples(const struct export_request *request)
{
	return request->options.weight == EXPORT_WEIGHT_WALL ||
	       request->options.weight == EXPORT_WEIGHT_WAIT;
}

/* Tells what the export lacks. Returns 0, or the exit status. */
static int check_result(const struct profile_reader *reader, const char *path,
			const struct export_request *request)
{
	bool needs_times = filter_has_times(&request->filter);
	const char *event = profile_reader_counted_event(reader);
	if (event && request->format->is_of_time) {
		diagnose("%s: its samples are of the event %s, and %s shows times; choose another "
			 "format",
			 path, event, request->format->name);
		return EXIT_FAILURE;
	}
	if (!profile_reader_complete(reader))
		diagnose("%s: incomplete, the collection did not end; exporting what was written "
			 "until then",
			 path);
	if (is_beyond_samples(request) && profile_reader_states(reader) == 0 &&
	    profile_reader_wait_sources(reader) == 0) {
		diagnose("%s: neither waits nor states of threads were recorded; collect with "
			 "tbcollect -c locks-and-waits",
			 path);
		return EXIT_FAILURE;
	}
	if (profile_reader_clock_count(reader) > 0)
		return 0;
	if (needs_times) {
		diagnose("%s: its samples have no times; leave out --from and --to TIME", path);
		return EXIT_FAILURE;
	}
	if (request->format->write_files) {
		diagnose("%s: its samples have no times; choose another format than %s", path,
			 request->format->name);
		return EXIT_FAILURE;
	}
	if (request->format->by & TALLY_ONE_BY_ONE)
		diagnose("%s: its samples have no times; the export shows them one after the other",
			 path);
	return 0;
}

/* The samples are read once, and for a calibration (tools/samples/calibration.h) once more. */
static void begin_progress(struct exporting *exporting, struct profile_reader *reader)
{
	bool is_drawn = profile_reader_sampling(reader) != PROFILE_SAMPLING_FIXED;
	uint64_t readings = is_drawn ? 2 : 1;
	progress_begin(&exporting->progress, "Exporting",
		       readings * profile_reader_sample_count(reader));
	profile_reader_watch(reader, see_samples, exporting);
}

/* Adds the time of waits, and all other time. Returns 0, or the exit status; then the result is
 * closed. */
static int take_wall(struct exporting *exporting)
{
	struct sampled_result *result = &exporting->result;
	TBRW_U32 code = wall_tally(&result->tally, result->reader, result->functions,
				   &exporting->request->filter);
	if (code == VT_SUCCESS)
		return 0;
	sampled_result_close(result);
	return sampled_result_explain(exporting->path, code);
}

/* Whether the time of waits belongs to the export. */
static bool wants_wall(const struct export_request *request, const struct profile_reader *reader)
{
	/* Of several events the one that is shown. */
	bool is_event =
		profile_reader_event_count(reader) > 0 && profile_reader_counted_event(reader);
	bool has_times = !is_event && (profile_reader_states(reader) != 0 ||
				       profile_reader_wait_sources(reader) != 0);
	return request->format->weights == EXPORT_WEIGHTS_ALL ? has_times
							      : is_beyond_samples(request);
}

/* Where the samples are of one event, --event is its name in perf. Returns 0, or the exit status.
 */
static int choose_event(struct profile_reader *reader, const char *path,
			const struct export_request *request)
{
	bool has_several = profile_reader_event_count(reader) > 0;
	bool is_choice = has_several || !request->format->names_event;
	int status = sampled_result_choose_event(reader, path,
						 is_choice ? request->options.event : NULL);
	if (status != 0 || !has_several || !is_beyond_samples(request) ||
	    !profile_reader_counted_event(reader))
		return status;
	diagnose("%s: --weight %s is of time, not of the event %s; leave out one of them", path,
		 weights[request->options.weight], profile_reader_counted_event(reader));
	return EXIT_FAILURE;
}

/* Returns 0, or the exit status. */
static int read_result(struct exporting *exporting)
{
	const struct export_request *request = exporting->request;
	struct profile_reader *reader;
	int status = arguments_open_result(exporting->path, exporting->path, &reader);
	if (status != 0)
		return status;
	status = choose_event(reader, exporting->path, request);
	if (status == 0)
		status = check_result(reader, exporting->path, request);
	if (status != 0) {
		profile_reader_close(reader);
		return status;
	}
	bool with_wall = wants_wall(request, reader);
	unsigned by_thread = request->options.with_threads || with_wall ? TALLY_BY_THREAD : 0;
	begin_progress(exporting, reader);
	status = sampled_result_collect(&exporting->result, reader, exporting->path,
					&request->filter, request->format->by | by_thread,
					!request->without_inlined);
	return status == 0 && with_wall ? take_wall(exporting) : status;
}

static void remove_output(void *user)
{
	output_unlink(user);
}

static struct weighted_stacks stacks_of(const struct exporting *exporting)
{
	const struct sampled_result *result = &exporting->result;
	return (struct weighted_stacks){.reader = result->reader,
					.functions = result->functions,
					.tally = &result->tally,
					.filter = &exporting->request->filter,
					.mode = CALL_PATH_ALL,
					.with_call_path = true};
}

static void remove_files(void *user)
{
	output_folder_clean(user);
}

static int write_folder(struct exporting *exporting)
{
	const struct export_request *request = exporting->request;
	struct weighted_stacks stacks = stacks_of(exporting);
	struct output_folder folder;
	TBRW_U32 code = VT_SUCCESS;
	int error = output_folder_open(&folder, request->output);
	if (!error) {
		interrupt_watch_with(&exporting->interrupt, LAST_WORDS, remove_files, &folder);
		code = request->format->write_files(&stacks, &request->options, &folder);
		progress_end(&exporting->progress);
		interrupt_hold(&exporting->interrupt);
		if (code == VT_SUCCESS)
			error = output_folder_finish(&folder);
		else
			output_folder_abandon(&folder);
	}
	if (code != VT_SUCCESS)
		return sampled_result_explain(exporting->path, code);
	if (!error)
		return 0;
	diagnose("cannot write to the folder %s: %s; make room or choose another place with -o",
		 request->output, strerror(error));
	return EXIT_FAILURE;
}

static TBRW_U32 write_stacks(struct exporting *exporting)
{
	const struct export_request *request = exporting->request;
	struct weighted_stacks stacks = stacks_of(exporting);
	interrupt_watch_with(&exporting->interrupt, LAST_WORDS, remove_output, &exporting->output);
	TBRW_U32 code =
		request->format->write(&stacks, &request->options, exporting->output.stream);
	progress_end(&exporting->progress);
	interrupt_hold(&exporting->interrupt);
	return code;
}

static int write_export(struct exporting *exporting)
{
	const struct export_request *request = exporting->request;
	struct output *output = &exporting->output;
	int status = arguments_open_output(output, request->output);
	if (status != 0)
		return status;
	if (request->format->is_binary && output->is_terminal) {
		output_abandon(output);
		diagnose("export: %s is not for a terminal; name a file with -o",
			 request->format->name);
		return EXIT_USAGE;
	}
	/* Between the lines of a text nobody would see it. */
	if (output->is_terminal)
		progress_end(&exporting->progress);
	TBRW_U32 code = write_stacks(exporting);
	if (code == VT_SUCCESS)
		return arguments_finish_output(output, request->output);
	output_abandon(output);
	return sampled_result_explain(exporting->path, code);
}

/* Finalization would import the export, which has the imported data too. */
static int check_folder(const char *path, const struct export_request *request)
{
	if (!request->format->write_files || !import_external_looks_into(request->output, path))
		return 0;
	diagnose("export: %s is a result's directory, whose finalization would import the files; "
		 "name another folder with -o",
		 request->output);
	return EXIT_USAGE;
}

static void remove_copy(void *user)
{
	module_copies_clean(user);
}

/* Returns 0, or the exit status. */
static int copy_modules(struct exporting *exporting)
{
	struct module_copies copies;
	int error = module_copies_begin(&copies, exporting->request->modules);
	if (!error) {
		interrupt_watch_with(&exporting->interrupt, LAST_WORDS_MODULES, remove_copy,
				     &copies);
		error = module_copies_write(&copies, exporting->result.reader);
		interrupt_hold(&exporting->interrupt);
	}
	progress_end(&exporting->progress);
	if (error) {
		bool is_taken = error == ELOOP || error == ENOTDIR || error == EEXIST;
		diagnose("cannot write %s: %s", copies.where,
			 is_taken ? "something else lies there, as a symbolic link; remove it"
				  : strerror(error));
	} else {
		char *text = module_copies_describe(&copies);
		diagnose("%s", text);
		free(text);
	}
	module_copies_end(&copies);
	return error ? EXIT_FAILURE : 0;
}

static int export_result(const char *path, const struct export_request *request)
{
	struct exporting exporting = {.path = path, .request = request};
	interrupt_begin(&exporting.interrupt);
	interrupt_watch_with(&exporting.interrupt, LAST_WORDS, NULL, NULL);
	int status = read_result(&exporting);
	interrupt_hold(&exporting.interrupt);
	progress_hide(&exporting.progress);
	if (status == 0) {
		status = request->modules ? copy_modules(&exporting) : 0;
		if (status == 0)
			status = request->format->write_files ? write_folder(&exporting)
							      : write_export(&exporting);
		sampled_result_close(&exporting.result);
	}
	progress_end(&exporting.progress);
	interrupt_release(&exporting.interrupt);
	return status;
}

void command_export_print_options(void)
{
	puts("\n  --threads               keep threads apart\n"
	     "  --filter KEY=VALUE      as of tbreport\n"
	     "  --from TIME, --to TIME  only this part of the run: 1.5s, 200ms\n"
	     "  --inline on|off         show inlined functions (default: on)\n"
	     "  --weight samples|cpu|wall|wait\n"
	     "                          numbers in folded: samples, or us of CPU time, of all\n"
	     "                          time, of waits; shown first in pprof, otlp, callgrind\n"
	     "  --event NAME            of several events, this one; else its name in perf\n"
	     "  --with-modules DIR      with perf: copy the modules to DIR/all, for VTune\n"
	     "\nFormats:");
	const struct export_format *format;
	for (size_t i = 0; (format = export_format_at(i)); i++)
		printf("  %-12s%s\n", format->name, format->what);
}

int command_export_run(int argc, char **argv)
{
	struct export_request request = {0};
	char *path = NULL;
	int status = parse_options(argc, argv, &request);
	if (status == 0 && !request.format) {
		diagnose("export: no format; name one with --to, see tbconvert export --help");
		status = EXIT_USAGE;
	}
	if (status == 0 && request.format->write_files &&
	    (!request.output || strcmp(request.output, "-") == 0)) {
		diagnose("export: %s is several files; name their folder with -o DIR",
			 request.format->name);
		status = EXIT_USAGE;
	}
	if (status == 0 && request.modules && !request.format->wants_modules) {
		diagnose("export: --with-modules goes with --to perf, not with %s",
			 request.format->name);
		status = EXIT_USAGE;
	}
	if (status == 0 && request.options.weight != EXPORT_WEIGHT_OWN &&
	    request.format->weights == EXPORT_WEIGHTS_NONE) {
		diagnose("export: --weight goes with --to folded, pprof, otlp or callgrind; %s has "
			 "times in their order",
			 request.format->name);
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = arguments_find_remaining(argc - optind, argv + optind, &path);
	if (status == 0)
		status = check_folder(path, &request);
	if (status == 0)
		status = export_result(path, &request);
	filter_finish(&request.filter);
	free(path);
	return status;
}
