/* What columns rows have, in their order. */
#include "tools/groups/grouping.h"
#include "tools/states/concurrency.h"
#include "tools/states/thread_states.h"

#define BY(rows) (1u << (rows))
#define BY_ANY   (BY(GROUPING_PROGRAMS + 1) - 1)
/* Rows with time of callers beside their own. */
#define BY_SITE (BY(REPORT_GROUP_SOURCE_LINE) | BY(REPORT_GROUP_CALL_SITE))
#define BY_CODE                                                                               \
	(BY_SITE | BY(REPORT_GROUP_FUNCTION) | BY(REPORT_GROUP_MODULE) | BY(GROUPING_PATHS) | \
	 BY(REPORT_GROUP_SOURCE_FILE))
/* CPU time by the use of the CPUs at that moment: the report hotspots. */
#define BY_HOTSPOTS    (BY(REPORT_GROUP_COUNT) - 1)
#define CLASS_AUDIENCE (TABLE_ALL | TABLE_OPTIONAL | TABLE_LATER)
_Static_assert(GROUPING_PROGRAMS + 1 < 32, "a bit for each kind of rows");

/* In their order. */
static const struct group_column {
	enum grouping_value value;
	unsigned rows; /* rows with the column */
	struct table_column column;
} group_columns[] = {
	{GROUPING_LABEL,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Function", "function", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL, BY(GROUPING_PROGRAMS), {"Program", "program", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL, BY(REPORT_GROUP_MODULE), {"Module", "module", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL, BY(GROUPING_PATHS), {"Module", "module", TABLE_TEXT, TABLE_ALL}},
	{GROUPING_LABEL, BY(REPORT_GROUP_PROCESS), {"Process", "process", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL, BY(REPORT_GROUP_PID), {"Process", "process", TABLE_TEXT, TABLE_ALL}},
	{GROUPING_LABEL,
	 BY(REPORT_GROUP_THREAD) | BY(GROUPING_LIVES),
	 {"Thread", "thread", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL,
	 BY(REPORT_GROUP_SOURCE_FILE),
	 {"Source File", "source_file", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL,
	 BY(REPORT_GROUP_SOURCE_LINE),
	 {"Source Line", "source_line", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL,
	 BY(REPORT_GROUP_CALL_SITE),
	 {"Call Site", "call_site", TABLE_TEXT, TABLE_ALL}},
	{GROUPING_CALLER, BY(REPORT_GROUP_CALL_SITE), {"Caller", "caller", TABLE_NAME, TABLE_ALL}},
	{GROUPING_LABEL, BY(REPORT_GROUP_TASK), {"Task", "task", TABLE_NAME, TABLE_ALL}},
	{GROUPING_PATH,
	 BY(GROUPING_PATHS),
	 {"Path", "path", TABLE_NAME, TABLE_ALL | TABLE_OPTIONAL}},
	{GROUPING_TID,
	 BY(REPORT_GROUP_THREAD) | BY(GROUPING_LIVES),
	 {"TID", "tid", TABLE_ID, TABLE_ALL}},
	{GROUPING_PROCESS, BY(GROUPING_LIVES), {"Process", "process", TABLE_TEXT, TABLE_ALL}},
	{GROUPING_PID,
	 BY(REPORT_GROUP_PROCESS) | BY(REPORT_GROUP_PID) | BY(GROUPING_LIVES),
	 {"PID", "pid", TABLE_ID, TABLE_ALL}},
	{GROUPING_CPU, BY_ANY, {"CPU Time", "cpu_time_s", TABLE_SECONDS, TABLE_ALL}},
	{GROUPING_SHARE, BY_ANY, {"CPU %", "cpu_share", TABLE_SHARE, TABLE_SHOWN | TABLE_KEYED}},
	{GROUPING_ERROR, BY_ANY & ~BY(GROUPING_LIVES) & ~BY(GROUPING_PROGRAMS),
	 REPORT_ERROR_COLUMN},
	{GROUPING_TOTAL,
	 BY_CODE | BY(REPORT_GROUP_TASK),
	 {"Total", "cpu_time_total_s", TABLE_SECONDS, TABLE_SHOWN}},
	{GROUPING_READY,
	 BY(GROUPING_LIVES),
	 {"Ready Time", "ready_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	/* Empty without states: sampling alone does not see waits. */
	{GROUPING_WAIT, BY(GROUPING_LIVES), {"Wait Time", "wait_time_s", TABLE_SECONDS, TABLE_ALL}},
	{GROUPING_STOPPED,
	 BY(GROUPING_LIVES),
	 {"Stopped Time", "stopped_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{GROUPING_STATE_UNKNOWN,
	 BY(GROUPING_LIVES),
	 {"Unknown Time", "unknown_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{GROUPING_GUESSED,
	 BY(GROUPING_LIVES),
	 {"Guessed Time", "guessed_time_s", TABLE_SECONDS, TABLE_ALL | TABLE_LATER}},
	{GROUPING_RUNNING,
	 BY(GROUPING_LIVES),
	 {"Running Time", "running_time_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
	{GROUPING_LIFE,
	 BY(GROUPING_LIVES),
	 {"Lifetime", "lifetime_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
	{GROUPING_WAITS,
	 BY(GROUPING_LIVES),
	 {"Wait Count", "wait_count", TABLE_COUNT, TABLE_ALL | TABLE_LATER}},
	{GROUPING_IDLE, BY_HOTSPOTS, {"Idle", "idle_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{GROUPING_IDLE + CONCURRENCY_POOR,
	 BY_HOTSPOTS,
	 {"Poor", "poor_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{GROUPING_IDLE + CONCURRENCY_OK,
	 BY_HOTSPOTS,
	 {"Ok", "ok_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{GROUPING_IDLE + CONCURRENCY_IDEAL,
	 BY_HOTSPOTS,
	 {"Ideal", "ideal_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{GROUPING_IDLE + CONCURRENCY_OVER,
	 BY_HOTSPOTS,
	 {"Over", "over_s", TABLE_SECONDS, CLASS_AUDIENCE}},
	{GROUPING_SAMPLES, BY_ANY, {"Samples", "samples", TABLE_COUNT, TABLE_ALL}},
	{GROUPING_PROCESSES,
	 BY(REPORT_GROUP_PROCESS) | BY(GROUPING_PROGRAMS),
	 {"Processes", "processes", TABLE_COUNT, TABLE_ALL}},
	{GROUPING_COMMAND,
	 BY(REPORT_GROUP_PID),
	 {"Command Line", "command_line", TABLE_NAME, TABLE_ALL}},
	{GROUPING_FUNCTION, BY_SITE, {"Function", "function", TABLE_NAME, TABLE_ALL}},
	{GROUPING_MODULE,
	 BY_SITE | BY(REPORT_GROUP_FUNCTION),
	 {"Module", "module", TABLE_TEXT, TABLE_ALL}},
	{GROUPING_FULL,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Function (Full)", "function_full", TABLE_NAME, TABLE_DATA}},
	{GROUPING_FILE,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Source File", "source_file", TABLE_TEXT, TABLE_ALL | TABLE_OPTIONAL}},
	{GROUPING_START,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Start Address", "start_address", TABLE_ADDRESS, TABLE_DATA}},
	{GROUPING_SOURCE,
	 BY(REPORT_GROUP_FUNCTION),
	 {"Source Path", "source_path", TABLE_TEXT, TABLE_KEYED}},
	{GROUPING_SOURCE, BY_SITE, {"Source Path", "source_path", TABLE_TEXT, TABLE_DATA}},
	/* Came after the columns of states. */
	{GROUPING_TOTAL,
	 BY_CODE | BY(REPORT_GROUP_TASK),
	 {"CPU Time:Total", "cpu_time_total_s", TABLE_SECONDS, TABLE_DATA | TABLE_LATER}},
};

#define COLUMN_COUNT (sizeof(group_columns) / sizeof(group_columns[0]))
_Static_assert(COLUMN_COUNT <= GROUPING_COLUMNS_MAX, "room for all");

#define SHOWN_MIN_NS 500000u /* less than this is 0.000 s */

/* Whether people want to see a column of states or classes: some thread has some. */
static bool has_any(const struct grouping *grouping, enum grouping_value value)
{
	if (value >= GROUPING_IDLE)
		return grouping->groups.class_ns[value - GROUPING_IDLE] > 0;
	bool is_rare = value == GROUPING_STOPPED || value == GROUPING_STATE_UNKNOWN ||
		       value == GROUPING_GUESSED;
	const struct thread_states *states = grouping->states;
	for (size_t i = 0; is_rare && i < states->lane_count; i++) {
		const struct thread_state_lane *lane = &states->lanes[i];
		uint64_t ns = value == GROUPING_STOPPED   ? lane->ns[PROFILE_STATE_STOPPED]
			      : value == GROUPING_GUESSED ? lane->guessed_ns
							  : lane->ns[PROFILE_STATE_UNKNOWN];
		if (ns >= SHOWN_MIN_NS)
			return true;
	}
	return !is_rare;
}

size_t grouping_choose_columns(struct grouping *grouping)
{
	size_t count = 0;
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		const struct group_column *column = &group_columns[i];
		bool is_of_states =
			column->value >= GROUPING_READY || column->value == GROUPING_WAIT;
		bool has_states = column->value >= GROUPING_IDLE ? grouping->groups.known_ns > 0
								 : grouping->states != NULL;
		if (!(column->rows & BY(grouping->rows)) ||
		    (column->value == GROUPING_TOTAL && !grouping->with_totals) ||
		    (is_of_states && !has_states && column->value != GROUPING_WAIT))
			continue;
		grouping->columns[count] = column->column;
		if (is_of_states && (!has_states || !has_any(grouping, column->value)))
			grouping->columns[count].audience &= ~TABLE_SHOWN;
		grouping->values[count++] = column->value;
	}
	return count;
}
