/* speedscope's own format, https://www.speedscope.app/file-format-schema.json: frames shared by all
 * profiles, a sampled profile for each thread, and an evented one over the time of the clock. */
#include "tools/export/export.h"
#include "tools/export/labels.h"
#include "tools/export/speedscope_events.h"
#include "tools/json/json_writer.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/timelines/timelines.h"
#include <stdlib.h>
#include <string.h>

/* Stacks come again and again: texts of this many, at most so long, are kept at hand. */
#define STACKS_MAX     65536u
#define STACK_TEXT_MAX 1024u
/* Pieces of time that are written over time, too: their events take much more room. */
#define EVENTED_MAX UINT64_C(25000)

/* A stack as JSON. */
struct stack_text {
	char *text; /* NULL: none */
	size_t size;
	uint32_t node;
	uint32_t state;
};

struct speedscope {
	struct json_writer json;
	const struct timelines *timelines;
	const struct functions *functions;
	struct stack_text *stacks; /* by a hash of node and state */
	struct call_path call_path;
	FILE *scratch; /* a stack's text is written to... */
	char *text;
	size_t size;
};

/* The first known line of each function: a frame of speedscope is a function, and its line is for
 * finding it. */
static uint32_t *find_first_lines(const struct profile_reader *reader,
				  const struct functions *functions)
{
	uint32_t *first = xalloc_zeroed(functions_count(functions), sizeof(*first));
	for (uint32_t frame = 0; frame < profile_reader_frame_count(reader); frame++) {
		uint32_t count;
		const uint32_t *of_frame = functions_of_frame(functions, frame, &count);
		const uint32_t *lines = functions_lines_of_frame(functions, frame);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t *line = &first[of_frame[i]];
			if (lines[i] > 0 && (*line == 0 || lines[i] < *line))
				*line = lines[i];
		}
	}
	return first;
}

/* A function without a source file has its module in the file's place: speedscope colours frames by
 * file. */
static void write_frame(struct json_writer *json, const struct functions *functions, uint32_t index,
			uint32_t line)
{
	const struct function *function = functions_at(functions, index);
	const struct dso *dso = functions_dso_of(functions, index);
	const char *place = dso->path[0] ? dso->path : dso->name;
	json_open_object(json, NULL);
	json_write_text(json, "name", function->name);
	json_write_text(json, "file", function->file[0] ? function->file : place);
	if (function->file[0] && line > 0)
		json_write_number(json, "line", line);
	json_write_text(json, "module", place);
	json_close_object(json);
}

static void write_named_frame(struct json_writer *json, const char *name)
{
	json_open_object(json, NULL);
	json_write_text(json, "name", name);
	json_close_object(json);
}

static void write_frames(struct speedscope *speedscope)
{
	struct json_writer *json = &speedscope->json;
	const struct functions *functions = speedscope->functions;
	uint32_t *lines = find_first_lines(speedscope->timelines->stacks->reader, functions);
	json_open_object(json, "shared");
	json_open_array(json, "frames");
	for (uint32_t i = 0; i < functions_count(functions); i++)
		write_frame(json, functions, i, lines[i]);
	write_named_frame(json, TALLY_NO_SAMPLE);
	write_named_frame(json, TALLY_NO_THREAD);
	json_close_array(json);
	json_close_object(json);
	free(lines);
}

/* The text goes to speedscope->text. */
static void make_stack_text(struct speedscope *speedscope, const struct timeline_piece *piece)
{
	struct json_writer json = {.stream = speedscope->scratch};
	struct call_path *call_path = &speedscope->call_path;
	uint32_t functions = functions_count(speedscope->functions);
	rewind(speedscope->scratch);
	json_open_array(&json, NULL);
	if (piece->state >= TIMELINE_NO_SAMPLE) {
		json_write_number(&json, NULL, functions + (piece->state - TIMELINE_NO_SAMPLE));
	} else {
		call_path_of_stack(call_path, speedscope->timelines->stacks->reader,
				   speedscope->functions, piece->node, piece->state, CALL_PATH_ALL);
		for (size_t i = 0; i < call_path->count; i++)
			json_write_number(&json, NULL, call_path->functions[i]);
	}
	json_close_array(&json);
	if (fflush(speedscope->scratch) != 0)
		xalloc_fail();
}

static void keep_stack_text(struct stack_text *stack, const struct timeline_piece *piece,
			    const char *text, size_t size)
{
	free(stack->text);
	*stack = (struct stack_text){xalloc_text_of(text, size), size, piece->node, piece->state};
}

static void write_stack(struct speedscope *speedscope, const struct timeline_piece *piece)
{
	uint32_t hash = (piece->node ^ piece->state << 24) * UINT32_C(0x9e3779b1);
	struct stack_text *stack = &speedscope->stacks[hash % STACKS_MAX];
	if (!stack->text || stack->node != piece->node || stack->state != piece->state) {
		make_stack_text(speedscope, piece);
		if (speedscope->size > STACK_TEXT_MAX) {
			json_write_raw(&speedscope->json, NULL, speedscope->text, speedscope->size);
			return;
		}
		keep_stack_text(stack, piece, speedscope->text, speedscope->size);
	}
	json_write_raw(&speedscope->json, NULL, stack->text, stack->size);
}

static void write_label(struct json_writer *json, const struct profile_reader *reader,
			const struct timeline *timeline, const char *suffix)
{
	char *process = label_make(tally_process_name(reader, timeline->process), timeline->pid);
	char *thread = label_make(tally_thread_name(reader, timeline->thread), timeline->tid);
	char *label = timeline->is_threadless ? xalloc_text(TALLY_NO_THREAD)
					      : xalloc_printf("%s (%s)%s", thread, process, suffix);
	json_write_text(json, "name", label);
	free(process);
	free(thread);
	free(label);
}

/* Begins a profile. */
static void open_profile(struct speedscope *speedscope, uint32_t index, const char *type,
			 const char *suffix)
{
	const struct profile_reader *reader = speedscope->timelines->stacks->reader;
	struct json_writer *json = &speedscope->json;
	json_open_object(json, NULL);
	json_write_text(json, "type", type);
	write_label(json, reader, &speedscope->timelines->timelines[index], suffix);
	json_write_text(json, "unit",
			profile_reader_counted_event(reader) ? "none" : "nanoseconds");
}

static void write_profile(struct speedscope *speedscope, uint32_t index)
{
	const struct timelines *timelines = speedscope->timelines;
	const struct timeline *timeline = &timelines->timelines[index];
	struct json_writer *json = &speedscope->json;
	struct timeline_piece piece;
	open_profile(speedscope, index, "sampled", "");
	json_write_number(json, "startValue", 0);
	json_write_number(json, "endValue", timeline->cpu_ns);
	json_open_array(json, "samples");
	timelines_rewind(timelines, index);
	while (timelines_next(timelines, &piece))
		write_stack(speedscope, &piece);
	json_close_array(json);
	json_open_array(json, "weights");
	timelines_rewind(timelines, index);
	while (timelines_next(timelines, &piece))
		json_write_number(json, NULL, piece.cpu_ns);
	json_close_array(json);
	json_close_object(json);
}

/* Those with the most time come first. Without a clock, and of numbers of an event, nothing is
 * known. */
static void write_over_time(struct speedscope *speedscope, const uint32_t *order)
{
	const struct timelines *timelines = speedscope->timelines;
	const struct profile_reader *reader = timelines->stacks->reader;
	struct stack_tree tree = {.reader = reader,
				  .functions = speedscope->functions,
				  .mode = CALL_PATH_ALL};
	uint64_t pieces = 0;
	if (profile_reader_clock_count(reader) == 0 || profile_reader_counted_event(reader))
		return;
	for (uint32_t i = 0; i < index_map_count(&timelines->map); i++) {
		const struct timeline *timeline = &timelines->timelines[order[i]];
		if (timeline->cpu_ns == 0 || timeline->is_threadless ||
		    timeline->count > EVENTED_MAX - pieces)
			continue;
		pieces += timeline->count;
		open_profile(speedscope, order[i], "evented", ", over time");
		speedscope_events_write(&speedscope->json, timelines, order[i], &tree);
		json_close_object(&speedscope->json);
	}
	stack_tree_finish(&tree);
}

/* The thread with the most time comes first and is shown first. Threads without time have nothing
 * to show, but speedscope needs a profile. */
static void write_profiles(struct speedscope *speedscope)
{
	const struct timelines *timelines = speedscope->timelines;
	uint32_t count = index_map_count(&timelines->map);
	uint32_t *order = timelines_order(timelines);
	json_open_array(&speedscope->json, "profiles");
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || timelines->timelines[order[i]].cpu_ns > 0)
			write_profile(speedscope, order[i]);
	}
	write_over_time(speedscope, order);
	json_close_array(&speedscope->json);
	free(order);
}

static void write_file(struct speedscope *speedscope)
{
	struct json_writer *json = &speedscope->json;
	const struct profile_reader *reader = speedscope->timelines->stacks->reader;
	const struct profile_note *command = label_command(reader);
	json_open_object(json, NULL);
	json_write_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_write_text(json, "exporter", "tbconvert@" TBCOLLECT_VERSION);
	json_write_text(json, "name",
			command ? profile_reader_text(reader, command->text) : "tbcollect");
	json_write_number(json, "activeProfileIndex", 0);
	write_frames(speedscope);
	write_profiles(speedscope);
	json_close_object(json);
	putc('\n', json->stream);
}

static void write_timelines(const struct timelines *timelines, const struct functions *functions,
			    FILE *stream)
{
	struct speedscope speedscope = {.json = {.stream = stream},
					.timelines = timelines,
					.functions = functions};
	speedscope.stacks = xalloc_zeroed(STACKS_MAX, sizeof(*speedscope.stacks));
	speedscope.scratch = open_memstream(&speedscope.text, &speedscope.size);
	if (!speedscope.scratch)
		xalloc_fail();
	write_file(&speedscope);
	fclose(speedscope.scratch);
	free(speedscope.text);
	for (uint32_t i = 0; i < STACKS_MAX; i++)
		free(speedscope.stacks[i].text);
	free(speedscope.stacks);
	call_path_finish(&speedscope.call_path);
}

TBRW_U32 export_speedscope_write(struct weighted_stacks *stacks,
				 const struct export_options *options, FILE *stream)
{
	(void)options; /* threads are always apart */
	struct timelines timelines;
	TBRW_U32 code = timelines_collect(&timelines, stacks, TIMELINE_BY_STACK);
	if (code == VT_SUCCESS)
		write_timelines(&timelines, stacks->functions, stream);
	timelines_finish(&timelines);
	return code;
}
