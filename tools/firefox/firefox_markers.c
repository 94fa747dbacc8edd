#include "tools/firefox/firefox_markers.h"

#include "profile/read/external.h"
#include "tools/firefox/firefox_external.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS_DIGITS 6u /* of ns as ms */

/* Kinds of markers. */
#define MARKER_INSTANT  0u
#define MARKER_INTERVAL 1u

/* Of a waker's stack, as a text in the marker. */
#define WAKER_FUNCTIONS_MAX 8u

struct marker {
	const char *name;
	const char *type;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *text;
	uint32_t number;
	uint64_t cpu_ns;
	enum firefox_category category;
	bool is_value; /* of a counter */
	struct profile_counter value;
	const struct life_wait *wait; /* lives until the next marker; NULL: none */
};

static void write_ms(struct json_writer *json, const char *name, uint64_t ns)
{
	json_write_decimal(json, name, ns, MS_DIGITS);
}

/* The thread's life, and its process's with the process's first thread. Returns how many. */
static size_t make_lives(const struct firefox_writing *writing, const struct timeline *timeline,
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

/* The markers of a thread: lives, then external data, then states. */
struct marker_list {
	const struct firefox_writing *writing;
	uint32_t index; /* of the timeline */
	struct marker lives[2];
	size_t count; /* of lives */
	size_t next;
	bool has_states;
};

static void rewind_markers(struct marker_list *list)
{
	list->next = 0;
	firefox_external_rewind(list->writing->external, list->index);
	uint32_t thread = list->writing->timelines->timelines[list->index].thread;
	list->has_states = lives_has(list->writing->lives, thread);
	if (list->has_states)
		lives_rewind(list->writing->lives, thread);
}

/* The pieces of the thread's life off the CPUs; on them, samples tell. */
static bool next_state(struct marker_list *list, struct marker *marker)
{
	static const struct {
		const char *name;
		enum firefox_category category;
	} states[] = {
		[PROFILE_STATE_UNKNOWN] = {"Unknown state", FIREFOX_OTHER},
		[PROFILE_STATE_RUNNING] = {"Running", FIREFOX_OTHER},
		[PROFILE_STATE_READY] = {"Ready", FIREFOX_READY},
		[PROFILE_STATE_BLOCKED] = {"Blocked", FIREFOX_WAITING},
		[PROFILE_STATE_STOPPED] = {"Stopped", FIREFOX_OTHER},
	};
	const struct lives *lives = list->writing->lives;
	struct life_piece piece;
	do {
		if (!list->has_states || !lives_next(list->writing->lives, &piece))
			return false;
	} while (piece.state == PROFILE_STATE_RUNNING);
	const char *name = states[piece.state].name;
	*marker = (struct marker){.name = piece.wait ? lives_wait_type(lives, piece.wait) : name,
				  .type = piece.wait ? "Wait" : "State",
				  .start_ns = piece.start_ns,
				  .end_ns = piece.end_ns,
				  .text = piece.wait ? lives_wait_name(lives, piece.wait) : name,
				  .category = states[piece.state].category,
				  .wait = piece.wait};
	return true;
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
		return next_state(list, marker);
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

static void write_waker(const struct firefox_writing *writing, const struct life_wait *wait)
{
	const struct weighted_stacks *stacks = writing->timelines->stacks;
	struct call_path path = {0};
	uint32_t thread = wait->waker_thread;
	if (thread == PROFILE_NONE)
		return;
	char *waker =
		xalloc_printf("%s (TID %" PRIu32 ")", tally_thread_name(stacks->reader, thread),
			      profile_reader_thread(stacks->reader, thread)->tid);
	json_write_text(writing->json, "waker", waker);
	free(waker);
	if (wait->waker_node == 0)
		return;
	call_path_of_stack(&path, stacks->reader, stacks->functions, wait->waker_node,
			   wait->waker_state, CALL_PATH_ALL);
	char *text = call_path_text(&path, stacks->functions, WAKER_FUNCTIONS_MAX);
	json_write_text(writing->json, "wakerStack", text);
	free(text);
	call_path_finish(&path);
}

/* The stack of a marker is its cause. */
static void write_wait(const struct firefox_writing *writing, const struct marker *marker)
{
	struct json_writer *json = writing->json;
	const struct life_wait *wait = marker->wait;
	const struct timeline_piece piece = {.node = wait->node, .state = wait->state};
	json_write_text(json, "kind", lives_wait_type(writing->lives, wait));
	write_waker(writing, wait);
	if (wait->ready_ns > 0)
		write_ms(json, "ready", wait->ready_ns);
	if (wait->spin_ns > 0)
		write_ms(json, "spin", wait->spin_ns);
	if (wait->node == 0)
		return;
	json_open_object(json, "cause");
	write_ms(json, "time", marker->start_ns);
	json_write_number(json, "stack", stack_tree_enter(&writing->tables->tree, &piece));
	json_close_object(json);
}

static void cell_data(const struct firefox_writing *writing, const struct marker *marker)
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
	if (marker->wait)
		write_wait(writing, marker);
	json_close_object(json);
}

static void cell_name(const struct firefox_writing *writing, const struct marker *marker)
{
	json_write_number(writing->json, NULL,
			  index_texts_enter(&writing->tables->texts, marker->name));
}

static void cell_start(const struct firefox_writing *writing, const struct marker *marker)
{
	write_ms(writing->json, NULL, marker->start_ns);
}

static void cell_end(const struct firefox_writing *writing, const struct marker *marker)
{
	if (marker->is_value)
		json_write_null(writing->json, NULL);
	else
		write_ms(writing->json, NULL, marker->end_ns);
}

static void cell_phase(const struct firefox_writing *writing, const struct marker *marker)
{
	json_write_number(writing->json, NULL, marker->is_value ? MARKER_INSTANT : MARKER_INTERVAL);
}

static void cell_category(const struct firefox_writing *writing, const struct marker *marker)
{
	json_write_number(writing->json, NULL, marker->category);
}

void firefox_markers_write(const struct firefox_writing *writing, uint32_t index)
{
	static const struct {
		const char *name;
		void (*write_cell)(const struct firefox_writing *writing,
				   const struct marker *marker);
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

void firefox_markers_write_schemas(struct json_writer *json)
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
	open_schema(json, "State");
	write_field(json, "name", "State", "string");
	close_schema(json);
	open_schema(json, "Wait");
	write_field(json, "name", "Waited for", "string");
	write_field(json, "kind", "Type", "string");
	write_field(json, "waker", "Woken by", "string");
	write_field(json, "wakerStack", "Waker's Stack", "string");
	write_field(json, "ready", "Then Ready for", "duration");
	write_field(json, "spin", "Spun before for", "duration");
	close_schema(json);
	write_counter_schema(json);
	json_close_array(json);
}
