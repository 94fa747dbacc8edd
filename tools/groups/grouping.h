/*
 * A report's rows: what they are, how samples and accounts add up in them, and the table they make.
 */
#ifndef TOOLS_GROUPS_GROUPING_H
#define TOOLS_GROUPS_GROUPING_H

#include "tools/groups/groups.h"
#include "tools/report/report.h"

/* Kinds of rows besides enum report_group. */
enum grouping_rows {
	GROUPING_PATHS = REPORT_GROUP_COUNT, /* of images: the report modules */
	GROUPING_LIVES,                      /* of threads: the report threads */
	GROUPING_PROGRAMS,                   /* processes of one name: in the summary */
};

enum grouping_value {
	GROUPING_LABEL,
	GROUPING_PATH,
	GROUPING_PID,
	GROUPING_TID,
	GROUPING_PROCESS,
	GROUPING_CPU,
	GROUPING_SHARE,
	GROUPING_ERROR,
	GROUPING_WAIT,
	GROUPING_TOTAL,
	GROUPING_CALLER,
	GROUPING_FUNCTION,
	GROUPING_SAMPLES,
	GROUPING_PROCESSES,
	GROUPING_COMMAND,
	GROUPING_MODULE,
	GROUPING_FULL,
	GROUPING_FILE,
	GROUPING_START,
	GROUPING_SOURCE,
	GROUPING_READY,
	GROUPING_STOPPED,
	GROUPING_STATE_UNKNOWN,
	GROUPING_GUESSED,
	GROUPING_RUNNING,
	GROUPING_LIFE,
	GROUPING_WAITS,
	GROUPING_IDLE, /* and so on, as enum concurrency_class: the last ones */
};

/* The most that rows may have. */
#define GROUPING_COLUMNS_MAX 48u

/* Marks the group id of a thread without a record in the result; pid and tid are the bits below. */
#define GROUPING_NO_RECORD (UINT64_C(1) << 63)
/* Beside it: nor samples; the bits below are the number of its lane. */
#define GROUPING_BY_STATES (UINT64_C(1) << 62)
/* The group id of time of no known thread, and of time in no sample. */
#define GROUPING_NO_OWNER UINT64_MAX

struct thread_states;

/* Of rows by line and by call site. */
struct grouping_site {
	const char *file;  /* "": not known */
	uint32_t line;     /* in the file; 0: not known */
	uint32_t dso;      /* of rows by line: of code without a line; else 0 */
	uint32_t caller;   /* function, PROFILE_NONE: none; 0 of rows by line */
	uint32_t function; /* called here; of rows by line 0, or a FUNCTION_... without a line */
};

struct grouping {
	const struct report_input *input;
	unsigned rows;    /* enum report_group, or enum grouping_rows */
	bool with_totals; /* time of all stacks with the row's code, where rows are code or tasks */
	struct groups groups;
	uint32_t *group_of_function; /* plus 1; 0: not met. NULL: of other rows */
	struct grouping_site *sites; /* a group's id is its site */
	struct index_map site_map;
	char **labels;                      /* of the groups with sites */
	const char **commands;              /* of the processes, for rows by pid */
	const struct thread_states *states; /* of the rows GROUPING_LIVES; NULL: there are none */
	uint32_t target;                    /* thousandths of a CPU */
	struct table table;
	struct table_column columns[GROUPING_COLUMNS_MAX];
	enum grouping_value values[GROUPING_COLUMNS_MAX]; /* of the columns */
};

/* Makes the table. with_totals: of rows that have them. limit: of the rows; 0: all. states: of rows
 * by GROUPING_LIVES; NULL: there are none. The input, and the states, must outlive it. Returns the
 * reader's code; grouping_finish goes with each call. */
TBRW_U32 grouping_make(struct grouping *grouping, const struct report_input *input, unsigned rows,
		       const struct thread_states *states, bool with_totals, uint32_t limit);
void grouping_finish(struct grouping *grouping);

/* The rest is for the files of the grouping. */

/* True if the threads' accounts give the rows' whole CPU time. */
bool grouping_is_by_thread(const struct grouping *grouping);

/* Adds up the groups, and sorts them. Returns the reader's code. */
TBRW_U32 grouping_collect(struct grouping *grouping);

/* Whether rows are of code: those of a stack are of the functions in its call path. */
bool grouping_is_of_code(const struct grouping *grouping);

/* Adds a stack to the total of each row of its call path. Returns the group of the leaf, whose own
 * time it is, until the next addition. */
struct group *grouping_add_path(struct grouping *grouping, struct weighted_stacks *at);

/* Gives sorted groups with sites their labels, until grouping_finish. */
void grouping_label_sites(struct grouping *grouping);

/* The group's site; NULL: it has none. */
const struct grouping_site *grouping_site_of(const struct grouping *grouping,
					     const struct group *group);

/* The rows by task: samples belong to the innermost one. Returns the reader's code. */
TBRW_U32 grouping_add_tasks(struct grouping *grouping);

/* Chooses the columns that the rows and the result have. Returns how many. */
size_t grouping_choose_columns(struct grouping *grouping);

/* total_ns: what shares are of. */
void grouping_fill_cell(const struct grouping *grouping, const struct group *group,
			uint64_t total_ns, enum grouping_value value, struct table_cell *cell);

#endif
