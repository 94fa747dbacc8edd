/* What each thread did over time, in parts of time of one length (buckets). */
#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/states/concurrency.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Parts of time of all threads: 40 bytes each, and as rows of data some 400. */
#define CELLS_MAX 4000000u
#define ROWS_MAX  500000u
#define ALL       "[All]"

enum { BUCKETS = 100, NAME_MAX_COLUMNS = 20, BAR_MIN = 10, NOT_SHOWN = -1 };

/* A thread's time, or all threads', in a bucket, by enum profile_state. */
struct bucket {
	uint64_t ns[THREAD_STATE_COUNT];
};

struct timeline {
	const struct report_input *input;
	struct thread_states states;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bucket_ns;
	size_t bucket_count;
	uint32_t *order; /* lanes, most active first */
	size_t lane_count;
	size_t row_count;  /* of these, how many are shown */
	ptrdiff_t *row_of; /* of each lane; NOT_SHOWN */
	struct bucket *all;
	struct bucket *buckets; /* of each row */
};

/* ---- Which ---- */

static int compare_lanes(const void *a, const void *b, void *user)
{
	const struct thread_state_lane *lanes = user;
	const struct thread_state_lane *left = &lanes[*(const uint32_t *)a];
	const struct thread_state_lane *right = &lanes[*(const uint32_t *)b];
	int order =
		compare_numbers(right->ns[PROFILE_STATE_RUNNING], left->ns[PROFILE_STATE_RUNNING]);
	if (!order)
		order = compare_numbers(right->ns[PROFILE_STATE_READY],
					left->ns[PROFILE_STATE_READY]);
	if (!order)
		order = compare_numbers(left->tid, right->tid);
	return order ? order : compare_numbers(left->start_ns, right->start_ns);
}

/* Those that lived, from a first way through the slices, which also finds the end. */
static TBRW_U32 choose_lanes(struct timeline *timeline)
{
	const struct report_options *options = timeline->input->options;
	struct thread_states *states = &timeline->states;
	TBRW_U32 code = thread_states_read_all(states, NULL, NULL);
	timeline->start_ns = states->collected.start_ns;
	timeline->end_ns = states->collected.end_ns;
	timeline->order = xalloc_zeroed(states->lane_count, sizeof(*timeline->order));
	timeline->row_of = xalloc_zeroed(states->lane_count, sizeof(*timeline->row_of));
	for (size_t i = 0; i < states->lane_count; i++) {
		timeline->row_of[i] = NOT_SHOWN;
		if (states->lanes[i].is_taken && thread_states_life_ns(&states->lanes[i]) > 0)
			timeline->order[timeline->lane_count++] = (uint32_t)i;
	}
	qsort_r(timeline->order, timeline->lane_count, sizeof(*timeline->order), compare_lanes,
		states->lanes);
	timeline->row_count = timeline->lane_count;
	if (options->limit > 0 && options->limit < timeline->row_count)
		timeline->row_count = options->limit;
	return code;
}

/* The length of buckets, and their number: at most `room`, 0: any. */
static void choose_buckets(struct timeline *timeline, size_t room)
{
	const struct report_options *options = timeline->input->options;
	uint64_t elapsed_ns = timeline->end_ns - timeline->start_ns;
	uint64_t fair = ROWS_MAX / (timeline->row_count + 1) + 1;
	uint64_t count = options->buckets ? options->buckets
			 : room           ? room
			 : fair < BUCKETS ? fair
					  : BUCKETS;
	if (options->bucket_ns > 0)
		count = elapsed_ns / options->bucket_ns + 1;
	if (room > 0 && count > room)
		count = room;
	if (count > CELLS_MAX / 2)
		count = CELLS_MAX / 2;
	timeline->bucket_ns = elapsed_ns / count + (elapsed_ns % count != 0);
	if (options->bucket_ns > timeline->bucket_ns)
		timeline->bucket_ns = options->bucket_ns;
	if (timeline->bucket_ns == 0)
		timeline->bucket_ns = 1;
	timeline->bucket_count = (size_t)(elapsed_ns / timeline->bucket_ns +
					  (elapsed_ns % timeline->bucket_ns != 0));
	if (timeline->row_count > CELLS_MAX / (timeline->bucket_count + 1))
		timeline->row_count = CELLS_MAX / (timeline->bucket_count + 1);
}

/* Of what is asked for as data; text has as much as it has room for. */
static char *refuse_buckets(const struct report_input *input)
{
	struct thread_states states;
	uint64_t bucket_ns = input->options->bucket_ns;
	uint32_t limit = input->options->limit;
	thread_states_init(&states, input->reader, &input->options->filter);
	uint64_t elapsed_ns = states.collected.least_end_ns - states.collected.start_ns;
	uint64_t rows = limit > 0 && limit < states.lane_count ? limit : states.lane_count;
	thread_states_finish(&states);
	uint64_t count = bucket_ns > 0 ? elapsed_ns / bucket_ns + 1 : input->options->buckets;
	if ((double)count * (double)(rows + 1) <= ROWS_MAX)
		return NULL;
	return xalloc_printf("%s: %" PRIu64 " parts of time for %" PRIu64 " threads are too many; "
			     "use longer parts, or --limit",
			     bucket_ns > 0 ? "--bucket" : "--buckets", count, rows);
}

char *report_refuse_timeline(const struct report_input *input)
{
	char *refusal = report_refuse_states(input);
	return !refusal && input->options->format->id != TABLE_FORMAT_TEXT ? refuse_buckets(input)
									   : refusal;
}

/* ---- How much ---- */

static void add_piece(const struct thread_state_piece *piece, void *user)
{
	struct timeline *timeline = user;
	ptrdiff_t row = piece->lane < timeline->states.lane_count ? timeline->row_of[piece->lane]
								  : NOT_SHOWN;
	uint64_t from_ns = piece->start_ns - timeline->start_ns;
	uint64_t to_ns = piece->end_ns - timeline->start_ns;
	while (from_ns < to_ns) {
		size_t bucket = (size_t)(from_ns / timeline->bucket_ns);
		uint64_t room_ns = timeline->bucket_ns - from_ns % timeline->bucket_ns;
		uint64_t taken_ns = room_ns < to_ns - from_ns ? room_ns : to_ns - from_ns;
		if (bucket >= timeline->bucket_count)
			return;
		timeline->all[bucket].ns[piece->state] += taken_ns;
		if (row != NOT_SHOWN)
			timeline->buckets[(size_t)row * timeline->bucket_count + bucket]
				.ns[piece->state] += taken_ns;
		from_ns += taken_ns;
	}
}

/* The second way. */
static TBRW_U32 fill_buckets(struct timeline *timeline)
{
	struct thread_states again;
	TBRW_U32 code;
	timeline->all = xalloc_zeroed(timeline->bucket_count, sizeof(*timeline->all));
	timeline->buckets = xalloc_zeroed(timeline->row_count * timeline->bucket_count,
					  sizeof(*timeline->buckets));
	for (size_t i = 0; i < timeline->row_count; i++)
		timeline->row_of[timeline->order[i]] = (ptrdiff_t)i;
	thread_states_init(&again, timeline->input->reader, &timeline->input->options->filter);
	code = thread_states_read_all(&again, add_piece, timeline);
	thread_states_finish(&again);
	return code;
}

static const struct thread_state_lane *lane_of(const struct timeline *timeline, size_t row)
{
	return &timeline->states.lanes[timeline->order[row]];
}

static const char *name_of(const struct timeline *timeline, size_t row)
{
	const char *name =
		tally_thread_name(timeline->input->reader, lane_of(timeline, row)->thread);
	return name[0] ? name : "[Unknown]";
}

/* ---- Text ---- */

/* Most of the bucket's time; a little running is seen. */
static char letter_of(const struct bucket *bucket)
{
	static const char letters[THREAD_STATE_COUNT] = {
		[PROFILE_STATE_UNKNOWN] = '?', [PROFILE_STATE_RUNNING] = '#',
		[PROFILE_STATE_READY] = '+',   [PROFILE_STATE_BLOCKED] = '.',
		[PROFILE_STATE_STOPPED] = 'T',
	};
	uint64_t sum = 0;
	unsigned most = PROFILE_STATE_RUNNING;
	for (unsigned state = 0; state < THREAD_STATE_COUNT; state++) {
		sum += bucket->ns[state];
		if (bucket->ns[state] > bucket->ns[most])
			most = state;
	}
	if (sum == 0)
		return ' ';
	bool has_run = bucket->ns[PROFILE_STATE_RUNNING] >= sum / 20 &&
		       bucket->ns[PROFILE_STATE_RUNNING] > 0;
	return most == PROFILE_STATE_BLOCKED && has_run ? ':' : letters[most];
}

/* Tenths of the target that ran. */
static char use_of(const struct timeline *timeline, size_t bucket)
{
	uint64_t start_ns = bucket * timeline->bucket_ns;
	uint64_t left_ns = timeline->end_ns - timeline->start_ns - start_ns;
	uint64_t length_ns = left_ns < timeline->bucket_ns ? left_ns : timeline->bucket_ns;
	double cpus = (double)timeline->all[bucket].ns[PROFILE_STATE_RUNNING] / (double)length_ns;
	double tenths = cpus * 1e4 / report_target(timeline->input);
	if (cpus == 0)
		return ' ';
	return tenths >= 9.5 ? '*' : (char)('0' + (int)(tenths + 0.5));
}

static void print_line(const char *name, size_t name_width, const char *tid, size_t tid_width,
		       uint64_t running_ns, FILE *stream)
{
	char *fitted = table_format_fit(name, name_width);
	size_t columns = table_format_columns(fitted);
	fprintf(stream, "%s%*s  %*s  %9.3f s  ", fitted,
		(int)(columns < name_width ? name_width - columns : 0), "", (int)tid_width, tid,
		(double)running_ns / 1e9);
	free(fitted);
}

static void print_lanes(const struct timeline *timeline, size_t name_width, FILE *stream)
{
	char tid[16];
	for (size_t row = 0; row < timeline->row_count; row++) {
		const struct thread_state_lane *lane = lane_of(timeline, row);
		snprintf(tid, sizeof(tid), "%" PRIu32, lane->tid);
		print_line(name_of(timeline, row), name_width, tid, 10,
			   lane->ns[PROFILE_STATE_RUNNING], stream);
		for (size_t i = 0; i < timeline->bucket_count; i++)
			fputc(letter_of(&timeline->buckets[row * timeline->bucket_count + i]),
			      stream);
		fputc('\n', stream);
	}
	if (timeline->row_count < timeline->lane_count)
		fprintf(stream, "%zu more threads\n", timeline->lane_count - timeline->row_count);
}

static size_t measure_names(const struct timeline *timeline)
{
	size_t widest = sizeof("Thread") - 1;
	for (size_t row = 0; row < timeline->row_count; row++) {
		size_t columns = table_format_columns(name_of(timeline, row));
		widest = columns > widest ? columns : widest;
	}
	return widest < NAME_MAX_COLUMNS ? widest : NAME_MAX_COLUMNS;
}

static void print_as_text(const struct timeline *timeline, size_t name_width, FILE *stream)
{
	char length[TABLE_NUMBER_SIZE];
	uint64_t running_ns = 0;
	for (size_t i = 0; i < timeline->bucket_count; i++)
		running_ns += timeline->all[i].ns[PROFILE_STATE_RUNNING];
	snprintf(length, sizeof(length), "%g", (double)timeline->bucket_ns / 1e6);
	fprintf(stream,
		"%.3f s, %s ms a character\n"
		"  # mostly running   + ready (no CPU)   . blocked   : blocked, ran a little\n"
		"  T stopped   ? unknown   " ALL ": tenths of %g logical CPUs in use, * all\n\n",
		(double)(timeline->end_ns - timeline->start_ns) / 1e9, length,
		report_target(timeline->input) / 1e3);
	fprintf(stream, "%-*s  %10s  %11s\n", (int)name_width, "Thread", "TID", "Running");
	print_line(ALL, name_width, "", 10, running_ns, stream);
	for (size_t i = 0; i < timeline->bucket_count; i++)
		fputc(use_of(timeline, i), stream);
	fputc('\n', stream);
	print_lanes(timeline, name_width, stream);
}

/* ---- Data ---- */

static const struct table_column columns[] = {
	{"Thread", "thread", TABLE_NAME, TABLE_ALL},
	{"TID", "tid", TABLE_ID, TABLE_ALL},
	{"Process", "process", TABLE_TEXT, TABLE_ALL},
	{"PID", "pid", TABLE_ID, TABLE_ALL},
	{"Start Time", "start_s", TABLE_DURATION, TABLE_ALL},
	{"End Time", "end_s", TABLE_DURATION, TABLE_ALL},
	{"Utilization", "utilization", TABLE_REAL, TABLE_ALL},
	{"Running Time", "running_s", TABLE_DURATION, TABLE_ALL},
	{"Ready Time", "ready_s", TABLE_DURATION, TABLE_ALL},
	{"Wait Time", "wait_s", TABLE_DURATION, TABLE_ALL},
	{"Stopped Time", "stopped_s", TABLE_DURATION, TABLE_ALL},
	{"Unknown Time", "unknown_s", TABLE_DURATION, TABLE_ALL},
};

static struct table_cell *add_row(const struct timeline *timeline, struct table *table, size_t at,
				  const struct bucket *bucket)
{
	static const enum profile_state order[] = {PROFILE_STATE_RUNNING, PROFILE_STATE_READY,
						   PROFILE_STATE_BLOCKED, PROFILE_STATE_STOPPED,
						   PROFILE_STATE_UNKNOWN};
	struct table_cell *cells = table_add_row(table);
	uint64_t elapsed_ns = timeline->end_ns - timeline->start_ns;
	uint64_t start_ns = at * timeline->bucket_ns;
	uint64_t end_ns = elapsed_ns - start_ns < timeline->bucket_ns
				  ? elapsed_ns
				  : start_ns + timeline->bucket_ns;
	cells[4].number = start_ns;
	cells[5].number = end_ns;
	table_set_real(&cells[6],
		       (double)bucket->ns[PROFILE_STATE_RUNNING] / (double)(end_ns - start_ns));
	for (size_t i = 0; i < THREAD_STATE_COUNT; i++)
		cells[7 + i].number = bucket->ns[order[i]];
	return cells;
}

static void print_as_data(const struct timeline *timeline, FILE *stream, unsigned width)
{
	const struct profile_reader *reader = timeline->input->reader;
	struct table table;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < timeline->bucket_count; i++) {
		struct table_cell *cells = add_row(timeline, &table, i, &timeline->all[i]);
		cells[0].text = ALL;
		cells[1].is_unknown = cells[3].is_unknown = true;
	}
	for (size_t at = 0; at < timeline->row_count * timeline->bucket_count; at++) {
		size_t row = at / timeline->bucket_count;
		const struct thread_state_lane *lane = lane_of(timeline, row);
		struct table_cell *cells = add_row(timeline, &table, at % timeline->bucket_count,
						   &timeline->buckets[at]);
		cells[0].text = name_of(timeline, row);
		cells[1].number = lane->tid;
		cells[3].is_unknown = lane->thread == PROFILE_NONE;
		if (lane->thread == PROFILE_NONE)
			continue;
		const struct profile_thread_info *thread =
			profile_reader_thread(reader, lane->thread);
		cells[2].text = tally_process_name(reader, thread->process);
		cells[3].number = thread->pid;
	}
	timeline->input->options->format->print(&table, stream, width);
	table_finish(&table);
}

static TBRW_U32 print_timeline(struct timeline *timeline, FILE *stream, unsigned width)
{
	bool is_text = timeline->input->options->format->id == TABLE_FORMAT_TEXT;
	TBRW_U32 code = choose_lanes(timeline);
	size_t name_width = measure_names(timeline);
	size_t before = name_width + sizeof("  0123456789  12345.789 s  ") - 1;
	size_t room = width > before + BAR_MIN ? width - before : BAR_MIN;
	if (code != VT_SUCCESS)
		return code;
	choose_buckets(timeline, !is_text ? 0 : width == 0 ? BUCKETS : room);
	code = fill_buckets(timeline);
	if (code != VT_SUCCESS)
		return code;
	if (is_text)
		print_as_text(timeline, name_width, stream);
	else
		print_as_data(timeline, stream, width);
	return VT_SUCCESS;
}

TBRW_U32 report_timeline_print(const struct report_input *input, FILE *stream, unsigned width)
{
	struct timeline timeline = {.input = input};
	thread_states_init(&timeline.states, input->reader, &input->options->filter);
	TBRW_U32 code = print_timeline(&timeline, stream, width);
	thread_states_finish(&timeline.states);
	free(timeline.order);
	free(timeline.row_of);
	free(timeline.all);
	free(timeline.buckets);
	return code;
}
