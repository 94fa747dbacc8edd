/* tbreport: shows a result. */
#include "tools/cli/arguments.h"
#include "tools/cli/output.h"
#include "tools/code/report_code.h"
#include "tools/diff/report_diff.h"
#include "tools/memory/xalloc.h"
#include "tools/page/page.h"
#include "tools/page/page_diff.h"
#include "tools/report/report.h"
#include "tools/report/report_options.h"
#include "tools/stacks/sampled_result.h"
#include "tools/symbolization/live_symbols.h"
#include "tools/terminal/diagnose.h"
#include "tools/watch/screen.h"
#include "tools/watch/watch.h"
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first one is shown when none is named. */
static const struct report reports[] = {
	{"summary", "times, samples, stacks, top hotspots, cost, platform", TALLY_BY_REASON,
	 .print = report_summary_print},
	{"hotspots", "functions by their own CPU time", TALLY_BY_RUNNING,
	 .print = report_hotspots_print, .refuse = report_refuse_hotspots},
	{"top-down", "call tree from the root", 0, .print = report_top_down_print},
	{"bottom-up", "functions by their own CPU time, with their callers", 0,
	 .print = report_bottom_up_print},
	{"callers", "FUNCTION between its callers and callees: self and total", 0,
	 .print = report_callers_print, .explain = report_explain_callers,
	 .refuse = report_refuse_subject},
	{"source", "lines of FUNCTION, or of a source FILE: self and total", 0,
	 .print = report_source_print, .refuse = report_refuse_source},
	{"assembly", "instructions of FUNCTION: self and total", 0, .print = report_assembly_print,
	 .refuse = report_refuse_assembly},
	{"threads", "threads by CPU time", TALLY_BY_THREAD, .print = report_threads_print},
	{"modules", "modules by CPU time", 0, .print = report_modules_print},
	{"utilization", "elapsed time by number of threads that ran or could run at once",
	 TALLY_ONE_BY_ONE, .print = report_utilization_print, .explain = report_explain_states,
	 .refuse = report_refuse_states, .is_of_time = true},
	{"timeline", "states of each thread over time", TALLY_ONE_BY_ONE,
	 .print = report_timeline_print, .explain = report_explain_states,
	 .refuse = report_refuse_timeline, .is_of_time = true},
	{"waits", "what threads waited for, how long, and who ended it", TALLY_ONE_BY_ONE,
	 .print = report_waits_print, .explain = report_explain_waits, .is_of_time = true},
	{"wall", "call tree of elapsed time for each thread: running, ready, waiting",
	 TALLY_BY_THREAD, .print = report_wall_print, .explain = report_explain_wall,
	 .is_of_time = true},
	{"tasks", "imported tasks and frames: times, CPU time and functions inside",
	 TALLY_BY_THREAD, .print = report_tasks_print, .explain = report_explain_tasks},
	{"counters", "imported counters: values by process and thread", 0,
	 .print = report_counters_print, .explain = report_explain_counters},
	{.name = "diff", .what = "what differs between results, and whether by more than chance"},
	{"quality", "how complete the stacks are, by module and thread, and what would help",
	 TALLY_BY_THREAD | TALLY_BY_REASON, .print = report_quality_print},
};

static TBRW_U32 print_page(const struct report_input *input, FILE *stream, unsigned width)
{
	(void)width; /* a browser's */
	return page_write(input, stream);
}

static char *refuse_page_of(const struct report_options *options)
{
	if (!page_is_built())
		return xalloc_text("--format html: this tbreport was built without the page; build "
				   "it with meson's option viewer (tools/bootstrap build does), or "
				   "use tbconvert export");
	if (!options->output && isatty(STDOUT_FILENO))
		return xalloc_text("--format html: a page is not for a terminal; use -o page.html");
	return NULL;
}

static char *refuse_page(const struct report_input *input)
{
	return refuse_page_of(input->options);
}

/* Instead of a report. */
static const struct report page_report = {"page", "", TALLY_BY_THREAD | TALLY_BY_REASON,
					  .print = print_page, .refuse = refuse_page};

#define REPORT_COUNT (sizeof(reports) / sizeof(reports[0]))

static const struct report *find_report(const char *name)
{
	for (size_t i = 0; i < REPORT_COUNT; i++) {
		if (strcmp(reports[i].name, name) == 0)
			return &reports[i];
	}
	return NULL;
}

static void print_help(void)
{
	puts("Usage: tbreport [REPORT] [options] [RESULT]\n"
	     "       tbreport callers|source|assembly FUNCTION [options] [RESULT]\n"
	     "       tbreport --watch [REPORT] [options] [RESULT]\n"
	     "       tbreport diff [options] BASE RESULT [RESULT...]\n"
	     "       tbreport diff [options] --base BASE... RESULT...\n"
	     "Shows RESULT, a result directory or its tb5 file; without one, the newest result in\n"
	     "the current directory.\n\n"
	     "Reports:");
	for (size_t i = 0; i < REPORT_COUNT; i++)
		printf("  %-12s%s%s\n", reports[i].name, reports[i].what,
		       i == 0 ? " (default)" : "");
	fputs("\nOptions:\n  --format ", stdout);
	for (size_t i = 0; table_format_at(i); i++)
		printf("%s%s", i ? "|" : "", table_format_at(i)->name);
	puts("|html\n"
	     "                         html: one page of all reports, for a browser; with -o\n"
	     "  --limit N              only the N heaviest rows\n"
	     "  --sort COLUMN[:asc|:desc]    rows by this column: CPU Time, Function:asc\n"
	     "  --min-percent N        only rows with that share of the CPU time, or more\n"
	     "                         (default: 0.1 in call trees on a terminal, else 0);\n"
	     "                         not for summary, quality, tasks, counters, utilization,\n"
	     "                         timeline and diff\n"
	     "  --width N              columns of text (default: the terminal's; no limit in a "
	     "pipe)\n"
	     "  --base RESULT          for diff: a result of the first side; repeated: several "
	     "runs\n"
	     "  --fail-above N%        for diff: exit status 3 if something is slower by more\n"
	     "  --filter KEY=VALUE     only samples of this process, pid, thread, tid, module or\n"
	     "                         function (of the code itself, not its callers), with\n"
	     "                         this function anywhere in the stack (stack=), or inside\n"
	     "                         this task; ~REGEX for names; repeated: all must hold\n"
	     "  --from TIME, --to TIME    only this part of the run: 1.5s, 200ms\n"
	     "  --call-stack-mode user-plus-one|user-only|all    system functions (default:\n"
	     "                         only those that user code calls directly)\n"
	     "  --inline on|off        inlined functions on their own (default) or as their "
	     "callers\n"
	     "  --group-by function|module|process|pid|thread|source-file|source-line|\n"
	     "             call-site|task                                    for hotspots;\n"
	     "             object|function|thread|waker|type                 for waits;\n"
	     "             function|module|thread|stack                      for diff\n"
	     "  --event NAME           samples of this event, where the result has several\n"
	     "  --source-dir DIR       for source and assembly: where source files are; repeated\n"
	     "  --syntax att|intel     for assembly\n"
	     "  --stacks               for waits: where threads wait, and are woken, from the\n"
	     "                         leaf up\n"
	     "  --target-concurrency N    logical CPUs to use, for summary, hotspots and\n"
	     "                         utilization (default: those that the program might use)\n"
	     "  --by cpus|threads      CSV of utilization: threads that run (default), or that "
	     "run\n"
	     "                         and could run\n"
	     "  --bucket TIME          length of the timeline's parts (10ms), or\n"
	     "  --buckets N            their number (default: as text has room; in data 100)\n"
	     "  --slower-than TIME     tasks one by one, those that took longer: 16ms, 1.5s\n"
	     "  --watch                again and again while the collection goes on: hotspots, or\n"
	     "                         the call tree, callers, threads or modules\n"
	     "  -r, --result-dir DIR   as RESULT\n"
	     "  -o, --output FILE      instead of standard output\n"
	     "  --help  --version");
}

static TBRW_U32 run_report(const struct report *report, struct report_input *input, FILE *stream,
			   unsigned width)
{
	uint32_t *rank = report_rank_functions(input->functions);
	input->rank = rank;
	char *miss = report->explain ? report->explain(input) : report_explain_miss(input);
	if (miss)
		diagnose("%s", miss);
	free(miss);
	TBRW_U32 code = report->print(input, stream, width);
	free(rank);
	return code;
}

/* Makes the report; *is_written: all of it is in the output's stream. Returns the exit status. */
static int make_report(const struct report *report, struct report_input *input,
		       struct output *output, unsigned width, bool *is_written)
{
	char *problem = NULL;
	int status = EXIT_SUCCESS;
	input->is_on_terminal = output->is_terminal;
	input->painter = output_painter(output);
	input->problem = &problem;
	TBRW_U32 code = run_report(report, input, output->stream, width);
	*is_written = code == VT_SUCCESS && !problem;
	if (code != VT_SUCCESS) {
		status = sampled_result_explain(input->path, code);
	} else if (problem) {
		diagnose("%s", problem);
		status = EXIT_USAGE;
	}
	free(problem);
	return status;
}

static int write_report(const struct report *report, struct report_input *input)
{
	struct output output;
	bool is_written;
	int status = arguments_open_output(&output, input->options->output);
	if (status != 0)
		return status;
	unsigned width = input->options->width ? input->options->width : output_width(&output);
	if (!input->options->with_watch)
		output_page(&output);
	status = make_report(report, input, &output, width, &is_written);
	if (is_written)
		status = arguments_finish_output(&output, input->options->output);
	else
		output_abandon(&output);
	return status;
}

/* What to show, of which result. */
struct subject {
	const struct report *report;
	const struct report_options *options;
	const char *path;
	struct live_symbols *names; /* of a result that is watched; else NULL */
};

static int name_frames(const struct subject *subject, struct profile_reader *reader)
{
	TBRW_U32 code = subject->names ? live_symbols_name(subject->names, reader) : VT_SUCCESS;
	return code == VT_SUCCESS ? 0 : sampled_result_explain(subject->path, code);
}

/* Returns 0, or the exit status after a message. */
static int check_time(const struct subject *subject, const struct profile_reader *reader)
{
	const struct filter *filter = &subject->options->filter;
	const char *event = profile_reader_counted_event(reader);
	if ((filter->from_ns > 0 || filter->to_ns > 0) && profile_reader_clock_count(reader) == 0) {
		diagnose("%s: its samples have no times; leave out --from and --to", subject->path);
		return EXIT_FAILURE;
	}
	if (subject->report->is_of_time && profile_reader_event_count(reader) > 0 && event) {
		diagnose("%s: the report %s is of time, not of the event %s; leave out --event",
			 subject->path, subject->report->name, event);
		return EXIT_FAILURE;
	}
	return 0;
}

/* Likewise. */
static int open_result(struct sampled_result *result, const struct subject *subject)
{
	const struct report_options *options = subject->options;
	struct profile_reader *reader;
	int status = arguments_open_result(subject->path, subject->path, &reader);
	if (status != 0)
		return status;
	status = sampled_result_choose_event(reader, subject->path, options->event);
	if (status == 0)
		status = check_time(subject, reader);
	if (status == 0)
		status = name_frames(subject, reader);
	if (status != 0) {
		profile_reader_close(reader);
		return status;
	}
	return sampled_result_collect(result, reader, subject->path, &options->filter,
				      subject->report->tally_by | report_tally_by(options->group),
				      options->with_inlined);
}

/* Sets the input up. Likewise. */
static int begin_report(const struct subject *subject, struct sampled_result *result,
			struct report_input *input)
{
	int status = open_result(result, subject);
	if (status != 0)
		return status;
	if (subject->options->format->id == TABLE_FORMAT_TEXT)
		functions_name_trampolines(result->functions);
	*input = (struct report_input){.reader = result->reader,
				       .path = subject->path,
				       .options = subject->options,
				       .functions = result->functions,
				       .tally = result->tally};
	char *refusal = subject->report->refuse ? subject->report->refuse(input) : NULL;
	if (!refusal)
		return 0;
	diagnose("%s", refusal);
	free(refusal);
	sampled_result_close(result);
	return EXIT_FAILURE;
}

static int show_report(const struct subject *subject)
{
	struct sampled_result result;
	struct report_input input;
	int status = begin_report(subject, &result, &input);
	if (status != 0)
		return status;
	/* The summary has this message itself. */
	if (!profile_reader_complete(result.reader) && subject->report != &reports[0])
		diagnose("%s: incomplete, the collection did not end; this is what was written "
			 "until then",
			 subject->path);
	status = write_report(subject->report, &input);
	sampled_result_close(&result);
	return status;
}

static int show_diff_page(const struct report_options *options)
{
	char *refusal = refuse_page_of(options);
	int status = EXIT_FAILURE;
	if (refusal)
		diagnose("%s", refusal);
	else
		status = page_diff_run(options);
	free(refusal);
	return status;
}

static void look_at_moment(const struct profile_reader *reader, struct watch_moment *moment)
{
	uint32_t clocks = profile_reader_clock_count(reader);
	moment->is_complete = profile_reader_complete(reader);
	moment->samples = profile_reader_sample_count(reader);
	if (clocks > 0)
		moment->since_start_ns =
			profile_reader_since_start(reader, profile_reader_clock(reader, clocks - 1)
								   ->raw_ns);
}

/* As many rows as the screen has lines below the table's heading; sorted ones are all made. */
static void fit_rows(struct report_options *options, unsigned rows)
{
	if (options->limit == 0 && !options->sort.column && rows > 4)
		options->limit = rows - 3;
}

static int show_moment(struct output *output, unsigned rows, unsigned width,
		       struct watch_moment *moment, void *user)
{
	const struct subject *watched = user;
	struct report_options options = *watched->options;
	const struct subject now = {watched->report, &options, watched->path, watched->names};
	struct sampled_result result;
	struct report_input input;
	bool is_written;
	fit_rows(&options, rows);
	int status = begin_report(&now, &result, &input);
	if (status != 0)
		return status;
	look_at_moment(result.reader, moment);
	status = make_report(now.report, &input, output, options.width ? options.width : width,
			     &is_written);
	sampled_result_close(&result);
	return status;
}

static int watch_report_of(const struct subject *subject)
{
	char *refusal = watch_refuse();
	if (refusal) {
		diagnose("%s", refusal);
		free(refusal);
		return EXIT_USAGE;
	}
	struct report_options options = *subject->options;
	struct subject watched = {subject->report, &options, subject->path, live_symbols_create()};
	int status = watch_run(subject->path, show_moment, &watched);
	fit_rows(&options, screen_rows());
	if (status == 0)
		status = show_report(&watched);
	live_symbols_destroy(watched.names);
	return status;
}

static int find_and_show(const struct report_options *options, const char *const *names)
{
	const struct report *report = options->report ? find_report(options->report) : &reports[0];
	if (options->is_page)
		report = &page_report;
	char *path = NULL;
	if (options->run_count > 0)
		return options->is_page ? show_diff_page(options) : report_diff_run(options);
	char *doubt = report_options_doubt(options, names);
	int status = arguments_find_result(options->result, doubt, &path);
	const struct subject subject = {.report = report, .options = options, .path = path};
	if (status == 0)
		status = options->with_watch ? watch_report_of(&subject) : show_report(&subject);
	free(doubt);
	free(path);
	return status;
}

int main(int argc, char **argv)
{
	struct report_options options;
	char *problem;
	const char *names[REPORT_COUNT + 1] = {NULL};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < REPORT_COUNT; i++)
		names[i] = reports[i].name;
	/* Only for the characters of its trees: no number is written in another way. */
	setlocale(LC_CTYPE, "");
	/* A reader that closes the pipe early is no failure; write errors are seen at the end. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	switch (report_options_parse(argc, argv, names, &options, &problem)) {
	case REPORT_OPTIONS_HELP:
		print_help();
		break;
	case REPORT_OPTIONS_VERSION:
		puts("tbreport " TBCOLLECT_VERSION);
		break;
	case REPORT_OPTIONS_BAD:
		diagnose("%s", problem);
		status = EXIT_USAGE;
		break;
	default:
		status = find_and_show(&options, names);
		break;
	}
	free(problem);
	report_options_finish(&options);
	return status;
}
