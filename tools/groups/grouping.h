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
#define GROUPING_COLUMNS_MAX 40u

/* Marks the group id of a thread without a record in the result; pid and tid are the bits below. */
#define GROUPING_NO_RECORD (UINT64_C(1) << 63)
/* Beside it: nor samples; the bits below are the number of its lane. */
#define GROUPING_BY_STATES (UINT64_C(1) << 62)
/* The group id of time of no known thread, and of time in no sample. */
#define GROUPING_NO_OWNER UINT64_MAX

struct thread_states;

struct grouping {
	const struct report_input *input;
	unsigned rows; /* enum report_group, or enum grouping_rows */
	struct groups groups;
	const char **commands;              /* of the processes, for rows by pid */
	const struct thread_states *states; /* of the rows GROUPING_LIVES; NULL: there are none */
	uint32_t target;                    /* thousandths of a CPU */
	struct table table;
	struct table_column columns[GROUPING_COLUMNS_MAX];
	enum grouping_value values[GROUPING_COLUMNS_MAX]; /* of the columns */
};

/* Makes the table. limit: of the rows; 0: all. states: of rows by GROUPING_LIVES; NULL: there are
 * none. The input, and the states, must outlive it. */
void grouping_make(struct grouping *grouping, const struct report_input *input, unsigned rows,
		   const struct thread_states *states, uint32_t limit);
void grouping_finish(struct grouping *grouping);

/* The rest is for the files of the grouping. */

/* True if the threads' accounts give the rows' whole CPU time. */
bool grouping_is_by_thread(const struct grouping *grouping);

/* Adds up the groups, and sorts them. */
void grouping_collect(struct grouping *grouping);

/* Chooses the columns that the rows and the result have. Returns how many. */
size_t grouping_choose_columns(struct grouping *grouping);

/* total_ns: what shares are of. */
void grouping_fill_cell(const struct grouping *grouping, const struct group *group,
			uint64_t total_ns, enum grouping_value value, struct table_cell *cell);

#endif
