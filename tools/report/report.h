/*
 * The reports of tbreport. To add one: a file with its print function, a row in tbreport.c.
 */
#ifndef TOOLS_REPORT_REPORT_H
#define TOOLS_REPORT_REPORT_H

#include "profile/read/reader.h"
#include "tools/report/report_options.h"
#include "tools/samples/tally.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/table/table.h"
#include <stdio.h>

struct report_input {
	struct profile_reader *reader;
	const char *path; /* of the tb5 file */
	const struct report_options *options;
	const struct functions *functions;
	const uint32_t *rank; /* place of each function in order of names */
	struct tally tally;   /* as report.tally_by asks for, and the options' filter */
	bool is_on_terminal;
	const struct terminal_painter *painter; /* of the output; NULL: no colours */
	/* Where a report says that the options do not fit it (report_sort_table); NULL as long as
	 * they do. The text is for whoever set the input up. Nothing is printed then. */
	char **problem;
};

struct report {
	const char *name;
	const char *what; /* for --help */
	unsigned tally_by;
	bool is_of_time; /* numbers of an event mean nothing in it */
	/* Returns the reader's code; prints nothing on a failure. */
	TBRW_U32 (*print)(const struct report_input *input, FILE *stream, unsigned width);
	/* Why it shows nothing, as report_explain_miss, which stands for NULL. */
	char *(*explain)(const struct report_input *input);
	/* Why it cannot be made, for the caller to free, or NULL; NULL: it always can. */
	char *(*refuse)(const struct report_input *input);
};

TBRW_U32 report_summary_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_hotspots_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_top_down_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_bottom_up_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_callers_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_threads_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_modules_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_tasks_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_counters_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_waits_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_wall_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_utilization_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_timeline_print(const struct report_input *input, FILE *stream, unsigned width);
TBRW_U32 report_quality_print(const struct report_input *input, FILE *stream, unsigned width);

/* The most helpful advice on the quality of stacks, for the caller to free; NULL: none. Needs a
 * tally by thread and by reason. */
char *report_advise(const struct report_input *input);

/* Fills a cell of TABLE_TIME with a time of external data: since the start of the collection; UTC
 * of another host's data (PROFILE_SOURCE_FOREIGN), whose clock may be another. Returns the cell's
 * text or NULL, for the caller to free behind the table. */
char *report_set_time(struct table_cell *cell, const struct profile_reader *reader, uint64_t tsc,
		      bool is_foreign);

/* Why the options' filter leaves no samples, for the user: one line, "why; what to do", for the
 * caller to free; NULL: no filter is set, or samples meet it. */
char *report_explain_miss(const struct report_input *input);

/* Likewise, where the result has no waits, or no states of threads, or the filter leaves none. */
char *report_explain_waits(const struct report_input *input);
char *report_explain_wall(const struct report_input *input);
/* Likewise, where no tasks, or no counters, were imported. */
char *report_explain_tasks(const struct report_input *input);
char *report_explain_counters(const struct report_input *input);
/* Likewise for reports of threads' states. */
char *report_explain_states(const struct report_input *input);

/* Why the report callers shows nothing: likewise, or the mode hides the function. */
char *report_explain_callers(const struct report_input *input);

/* The functions that a report is about, by function of input->functions: those of the name asked
 * for; or those in source files of that name, by path or without its directories. The caller frees
 * the array. */
bool *report_subject_functions(const struct report_input *input);
bool *report_subject_functions_of_file(const struct report_input *input);
/* Whether there is one. */
bool report_has_subject(const struct report_input *input, const bool *is_subject);
/* That no function has the name, for the caller to free; NULL: one has. */
char *report_refuse_subject(const struct report_input *input);

/* Why hotspots cannot have the group asked for, likewise. */
char *report_refuse_hotspots(const struct report_input *input);

/* Why a report of states cannot be made with the options or of the result, for the caller to free;
 * NULL: it can. */
char *report_refuse_states(const struct report_input *input);
/* The same of the timeline. */
char *report_refuse_timeline(const struct report_input *input);

/* The number of logical CPUs to use, in thousandths: of the options, else the result's. */
uint32_t report_target(const struct report_input *input);

/* Prints a report's table in the options' format, without rows whose share of the CPU time is below
 * --min-percent, or by default below default_least (parts of 10^6; in text only). Text names the
 * number of rows left out. */
void report_print_table(const struct report_input *input, struct table *table,
			uint64_t default_least, FILE *stream, unsigned width);

/* Sorts a table as the options say, all rows but the first `fixed` ones, and keeps as many as the
 * options' sort has. Returns NULL, or the problem's text for the caller to free. */
char *report_sort_table(const struct report_options *options, struct table *table, size_t fixed);

/* The column of the table that the options sort by; SIZE_MAX: none. */
size_t report_sort_column(const struct report_input *input, struct table *table);

/* Sorts and prints a table in a format. In a result whose samples are of an event that is no clock,
 * the columns of CPU time are of numbers of it, under its name. */
void report_print_as(const struct report_input *input, struct table *table,
		     const struct table_format *format, FILE *stream, unsigned width);

/* Whether the report ended with a problem. */
bool report_has_problem(const struct report_input *input);

/* As text, `limit` rows (0: all): the functions with the most CPU time of their own; the programs
 * with the most in all, with a heading, if there are several and the filter is not about
 * functions. */
void report_top_functions(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width);
void report_top_programs(const struct report_input *input, uint32_t limit, FILE *stream,
			 unsigned width);

/* Likewise, with a heading: the objects that threads waited for longest, short waits apart. Nothing
 * without any. Returns the reader's code. */
TBRW_U32 report_top_waits(const struct report_input *input, uint32_t limit, FILE *stream,
			  unsigned width);

/* TALLY_BY_... of the properties by which rows of a group differ. */
unsigned report_tally_by(enum report_group group);

/* The stacks taken by the options' filter; with_call_path as in struct weighted_stacks. */
struct weighted_stacks report_stacks(const struct report_input *input, bool with_call_path);

/* The standard error of a row's share: shown beside the share, in data behind all other columns. */
#define REPORT_ERROR_COLUMN                                                                \
	{                                                                                  \
		"Share Std Error", "share_std_error", TABLE_ERROR, TABLE_ALL | TABLE_LATER \
	}

/* Fills the error cell of a part of all draws; unknown for an exact row. */
void report_set_error(struct table_cell *cell, const struct draws_part *part,
		      const struct draws *all, uint64_t total_ns);

/* CPU time in no sample is a row of its own if more than 0.05 % of all. */
bool report_shows_no_sample(const struct tally *tally);

/* CPU time of no known thread is likewise a row among threads or processes. 0: none to show. A
 * filter asks for a part, and time of no known thread is in no part. */
uint64_t report_threadless_ns(const struct report_input *input);

/* Order of the functions by name, full name, module and start, for equal weights. The caller
 * frees it. */
uint32_t *report_rank_functions(const struct functions *functions);

#endif
