#include "tools/firefox/firefox_threads.h"

#include "profile/read/external.h"
#include "tools/firefox/firefox_external.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS_DIGITS 6u /* of ns as ms */
#define NS_PER_US UINT64_C(1000)
#define US_DIGITS 3u /* of us as ms: fine enough for times */

/* Kinds of markers. */
#define MARKER_INSTANT  0u
#define MARKER_INTERVAL 1u

struct writing {
	const struct timelines *timelines;
	struct firefox_tables *tables;
	struct json_writer *json;
	uint64_t end_ns; /* of the collection */
	const struct firefox_external *external;
};

/* A number that was used again is another process or thread: "NUMBER.1", ... */
static char *make_number(uint32_t number, uint32_t earlier)
{
	return earlier > 0 ? xalloc_printf("%" PRIu32 ".%" PRIu32, number, earlier)
			   : xalloc_printf("%" PRIu32, number);
}

static void write_pid(struct json_writer *json, const struct timeline *timeline)
{
	char *pid = make_number(timeline->pid, timeline->earlier_processes);
	json_write_text(json, "pid", pid);
	free(pid);
}

static void write_tid(struct json_writer *json, const struct timeline *timeline)
{
	if (timeline->earlier_threads == 0) {
		json_write_number(json, "tid", timeline->tid);
		return;
	}
	char *tid = make_number(timeline->tid, timeline->earlier_threads);
	json_write_text(json, "tid", tid);
	free(tid);
}

static void write_ms(struct json_writer *json, const char *name, uint64_t ns)
{
	json_write_decimal(json, name, ns, MS_DIGITS);
}

/* null: not ended. */
static void write_end(struct json_writer *json, const char *name, uint64_t end_ns)
{
	if (end_ns == TIMELINE_UNKNOWN)
		json_write_null(json, name);
	else
		write_ms(json, name, end_ns);
}

static void write_stacks(const struct writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece))
		json_write_number(writing->json, NULL,
				  stack_tree_enter(&writing->tables->tree, &piece));
}

/* us after us, so that rounding does not add up. */
static void write_time_deltas(const struct writing *writing, uint32_t index, uint64_t start_ns)
{
	struct timeline_piece piece;
	uint64_t before_us = start_ns / NS_PER_US;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece)) {
		uint64_t time_us = piece.time_ns / NS_PER_US;
		json_write_decimal(writing->json, NULL, time_us - before_us, US_DIGITS);
		before_us = time_us;
	}
}

static void write_weights(const struct writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece))
		write_ms(writing->json, NULL, piece.cpu_ns);
}

/* For graphs: us after us, as the time. */
static void write_cpu_deltas(const struct writing *writing, uint32_t index)
{
	struct timeline_piece piece;
	uint64_t cpu_ns = 0;
	timelines_rewind(writing->timelines, index);
	while (timelines_next(writing->timelines, &piece)) {
		uint64_t before_us = cpu_ns / NS_PER_US;
		cpu_ns += piece.cpu_ns;
		json_write_number(writing->json, NULL, cpu_ns / NS_PER_US - before_us);
	}
}

/* Time between samples has the CPU time of the later one: one sample without a stack comes first,
 * or else the first sample's CPU time would not count. */
static void write_samples(const struct writing *writing, uint32_t index)
{
	struct json_writer *json = writing->json;
	uint64_t count = writing->timelines->timelines[index].count;
	uint64_t start_ns = writing->timelines->timelines[index].first_ns;
	json_open_object(json, "samples");
	json_open_array(json, "stack");
	if (count > 0)
		json_write_null(json, NULL);
	write_stacks(writing, index);
	json_close_array(json);
	json_open_array(json, "timeDeltas");
	if (count > 0)
		json_write_decimal(json, NULL, start_ns / NS_PER_US, US_DIGITS);
	write_time_deltas(writing, index, start_ns);
	json_close_array(json);
	json_open_array(json, "weight");
	if (count > 0)
		json_write_number(json, NULL, 0);
	write_weights(writing, index);
	json_close_array(json);
	json_write_text(json, "weightType", "tracing-ms");
	json_open_array(json, "threadCPUDelta");
	if (count > 0)
		json_write_number(json, NULL, 0);
	write_cpu_deltas(writing, index);
	json_close_array(json);
	json_write_number(json, "length", count > 0 ? count + 1 : 0);
	json_close_object(json);
}

struct marker {
	const char *name;
	const char *type;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *text;
	uint32_t number;
	uint64_t cpu_ns;
	bool is_value; /* of a counter */
	struct profile_counter value;
};

/* The thread's life, and its process's with the process's first thread. Returns how many. */
static size_t make_lives(const struct writing *writing, const struct timeline *timeline,
			 struct marker markers[2])
{
	const struct profile_reader *reader = writing->timelines->stacks->reader;
	uint64_t end_ns = timeline->end_ns < writing->end_ns ? timeline->end_ns : writing->end_ns;
	if (timeline->is_threadless)
		return 0;
	markers[0] = (struct marker){.name = "Thread",
				     .type = "Thread",
				     .start_ns = timeline->start_ns,
				     .end_ns = end_ns,
				     .text = timelines_owner(writing->timelines, timeline).thread,
				     .number = timeline->tid,
				     .cpu_ns = timeline->cpu_ns};
	if (timeline->process == PROFILE_NONE || timeline->tid != timeline->pid)
		return 1;
	const struct profile_process_info *process =
		profile_reader_process(reader, timeline->process);
	end_ns = timelines_since_start(reader, process->end_tsc);
	markers[1] = (struct marker){.name = "Process",
				     .type = "Process",
				     .start_ns = timelines_since_start(reader, process->start_tsc),
				     .end_ns = end_ns < writing->end_ns ? end_ns : writing->end_ns,
				     .text = process->path,
				     .number = process->pid};
	return 2;
}

/* The markers of a thread: lives, then external data. */
struct marker_list {
	const struct writing *writing;
	uint32_t index; /* of the timeline */
	struct marker lives[2];
	size_t count; /* of lives */
	size_t next;
};

static void rewind_markers(struct marker_list *list)
{
	list->next = 0;
	firefox_external_rewind(list->writing->external, list->index);
}

static bool next_marker(struct marker_list *list, struct marker *marker)
{
	/* by kind of series */
	static const char *const types[] = {"Task", "Frame", "Task", "Counter", "Counter"};
	const struct profile_reader *reader = list->writing->timelines->stacks->reader;
	if (list->next < list->count) {
		*marker = list->lives[list->next++];
		return true;
	}
	const struct external_marker *external = firefox_external_next(list->writing->external);
	if (!external)
		return false;
	uint32_t kind = profile_reader_series(reader, external->series)->kind;
	const char *name = profile_reader_series_name(reader, external->series);
	*marker = (struct marker){.name = name,
				  .type = types[kind],
				  .start_ns = external->start_ns,
				  .end_ns = external->end_ns,
				  .text = name,
				  .is_value = kind >= PROFILE_SERIES_COUNT,
				  .value = {.value = external->value, .flags = external->flags}};
	return true;
}

/* JSON has no infinite numbers, and nothing that is none. */
static void write_value(struct json_writer *json, const struct profile_counter *counter)
{
	double value = profile_counter_value(counter);
	char text[32];
	if (!isfinite(value)) {
		json_write_null(json, "value");
		return;
	}
	if (counter->flags & PROFILE_COUNTER_REAL)
		snprintf(text, sizeof(text), "%.17g", value);
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)counter->value);
	json_write_raw(json, "value", text, strlen(text));
}

static void cell_data(const struct writing *writing, const struct marker *marker)
{
	struct json_writer *json = writing->json;
	json_open_object(json, NULL);
	json_write_text(json, "type", marker->type);
	json_write_text(json, "name", marker->text);
	if (marker->number > 0)
		json_write_number(json, "number", marker->number);
	if (marker->cpu_ns > 0)
		write_ms(json, "cpu", marker->cpu_ns);
	if (marker->is_value)
		write_value(json, &marker->value);
	json_close_object(json);
}

static void cell_name(const struct writing *writing, const struct marker *marker)
{
	json_write_number(writing->json, NULL,
			  index_texts_enter(&writing->tables->texts, marker->name));
}

static void cell_start(const struct writing *writing, const struct marker *marker)
{
	write_ms(writing->json, NULL, marker->start_ns);
}

static void cell_end(const struct writing *writing, const struct marker *marker)
{
	if (marker->is_value)
		json_write_null(writing->json, NULL);
	else
		write_ms(writing->json, NULL, marker->end_ns);
}

static void cell_phase(const struct writing *writing, const struct marker *marker)
{
	json_write_number(writing->json, NULL, marker->is_value ? MARKER_INSTANT : MARKER_INTERVAL);
}

static void cell_category(const struct writing *writing, const struct marker *marker)
{
	(void)marker;
	json_write_number(writing->json, NULL, FIREFOX_OTHER);
}

static void write_markers(const struct writing *writing, uint32_t index)
{
	static const struct {
		const char *name;
		void (*write_cell)(const struct writing *writing, const struct marker *marker);
	} columns[] = {{"data", cell_data},   {"name", cell_name},   {"startTime", cell_start},
		       {"endTime", cell_end}, {"phase", cell_phase}, {"category", cell_category}};
	struct json_writer *json = writing->json;
	struct marker_list list = {.writing = writing, .index = index};
	struct marker marker;
	uint64_t count = 0;
	list.count = make_lives(writing, &writing->timelines->timelines[index], list.lives);
	json_open_object(json, "markers");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		json_open_array(json, columns[i].name);
		rewind_markers(&list);
		for (count = 0; next_marker(&list, &marker); count++)
			columns[i].write_cell(writing, &marker);
		json_close_array(json);
	}
	json_write_number(json, "length", count);
	json_close_object(json);
}

static void write_lives(const struct writing *writing, const struct timeline *timeline)
{
	struct json_writer *json = writing->json;
	const struct profile_reader *reader = writing->timelines->stacks->reader;
	uint64_t start_ns = 0;
	uint64_t end_ns = TIMELINE_UNKNOWN;
	if (timeline->process != PROFILE_NONE) {
		const struct profile_process_info *process =
			profile_reader_process(reader, timeline->process);
		start_ns = timelines_since_start(reader, process->start_tsc);
		end_ns = timelines_since_start(reader, process->end_tsc);
	}
	write_ms(json, "processStartupTime", start_ns);
	write_end(json, "processShutdownTime", end_ns);
	write_ms(json, "registerTime", timeline->start_ns);
	write_end(json, "unregisterTime", timeline->end_ns);
}

static void write_thread(const struct writing *writing, uint32_t index)
{
	struct json_writer *json = writing->json;
	const struct timeline *timeline = &writing->timelines->timelines[index];
	struct stack_owner owner = timelines_owner(writing->timelines, timeline);
	json_open_object(json, NULL);
	json_write_text(json, "name", owner.thread);
	json_write_text(json, "processName", owner.process);
	json_write_text(json, "processType", "default");
	json_write_bool(json, "isMainThread",
			timeline->is_threadless || timeline->tid == timeline->pid);
	write_pid(json, timeline);
	write_tid(json, timeline);
	write_lives(writing, timeline);
	json_open_array(json, "pausedRanges");
	json_close_array(json);
	json_write_bool(json, "showMarkersInTimeline", true);
	write_samples(writing, index);
	write_markers(writing, index);
	json_close_object(json);
}

uint64_t firefox_threads_end(const struct timelines *timelines)
{
	const struct profile_reader *reader = timelines->stacks->reader;
	uint64_t end_ns = 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_ELAPSED)
			end_ns = note->value;
	}
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++) {
		const struct timeline *timeline = &timelines->timelines[i];
		if (timeline->last_ns > end_ns)
			end_ns = timeline->last_ns;
		if (timeline->end_ns != TIMELINE_UNKNOWN && timeline->end_ns > end_ns)
			end_ns = timeline->end_ns;
	}
	return end_ns;
}

/* Time of no known thread has a thread where there is such time; and a profile has a thread. */
TBRW_U32 firefox_threads_write(const struct timelines *timelines, struct firefox_tables *tables,
			       struct json_writer *json)
{
	struct firefox_external external;
	TBRW_U32 code = firefox_external_collect(&external, timelines);
	const struct writing writing = {timelines, tables, json, firefox_threads_end(timelines),
					&external};
	uint32_t count = index_map_count(&timelines->map);
	uint32_t *order = timelines_order(timelines);
	json_open_array(json, "threads");
	for (uint32_t i = 0; i < count; i++) {
		const struct timeline *timeline = &timelines->timelines[order[i]];
		if (!timeline->is_threadless || timeline->cpu_ns > 0 || count == 1)
			write_thread(&writing, order[i]);
	}
	json_close_array(json);
	free(order);
	firefox_external_finish(&external);
	return code;
}

static void write_field(struct json_writer *json, const char *key, const char *label,
			const char *format)
{
	json_open_object(json, NULL);
	json_write_text(json, "key", key);
	json_write_text(json, "label", label);
	json_write_text(json, "format", format);
	json_close_object(json);
}

static void open_schema(struct json_writer *json, const char *name)
{
	static const char *const places[] = {"marker-chart", "marker-table"};
	json_open_object(json, NULL);
	json_write_text(json, "name", name);
	json_write_text(json, "tableLabel", "{marker.data.name}");
	json_write_text(json, "chartLabel", "{marker.data.name}");
	json_open_array(json, "display");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		json_write_text(json, NULL, places[i]);
	json_close_array(json);
	json_open_array(json, "fields");
}

static void close_schema(struct json_writer *json)
{
	json_close_array(json);
	json_close_object(json);
}

/* Each counter of a thread gets a track of its own, with a line. */
static void write_counter_schema(struct json_writer *json)
{
	open_schema(json, "Counter");
	write_field(json, "name", "Counter", "string");
	write_field(json, "value", "Value", "decimal");
	json_close_array(json);
	json_open_array(json, "graphs");
	json_open_object(json, NULL);
	json_write_text(json, "key", "value");
	json_write_text(json, "type", "line");
	json_write_text(json, "color", "blue");
	json_close_object(json);
	json_close_array(json);
	json_close_object(json);
}

void firefox_threads_write_schemas(struct json_writer *json)
{
	json_open_array(json, "markerSchema");
	open_schema(json, "Thread");
	write_field(json, "name", "Thread", "string");
	write_field(json, "number", "TID", "integer");
	write_field(json, "cpu", "CPU Time", "duration");
	close_schema(json);
	open_schema(json, "Process");
	write_field(json, "name", "Program", "file-path");
	write_field(json, "number", "PID", "integer");
	close_schema(json);
	open_schema(json, "Task");
	write_field(json, "name", "Task", "string");
	close_schema(json);
	open_schema(json, "Frame");
	write_field(json, "name", "Frame", "string");
	close_schema(json);
	write_counter_schema(json);
	json_close_array(json);
}
