#include "tools/chrome/chrome_samples.h"

#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Samples of an event: few enough for readers that take an event as a whole. */
#define CHUNK_SAMPLES 1000u

#define NS_PER_US UINT64_C(1000)

/* chrome://tracing takes node 1 for a root without a function, and leaves it out. */
#define FIRST_NODE 2u

struct chunk {
	struct timeline_piece pieces[CHUNK_SAMPLES];
	uint32_t steps[CHUNK_SAMPLES];
	size_t count;
};

void chrome_samples_finish(struct chrome_samples *samples)
{
	stack_tree_finish(&samples->tree);
	free(samples->written);
	free(samples->path);
}

static bool read_chunk(struct chrome_samples *samples, const struct timelines *timelines,
		       struct chunk *chunk)
{
	for (chunk->count = 0; chunk->count < CHUNK_SAMPLES; chunk->count++) {
		struct timeline_piece *piece = &chunk->pieces[chunk->count];
		if (!timelines_next(timelines, piece))
			break;
		chunk->steps[chunk->count] = stack_tree_enter(&samples->tree, piece);
	}
	return chunk->count > 0;
}

static void write_node(const struct chrome_samples *samples, struct json_writer *json,
		       uint32_t step)
{
	const struct stack_tree *tree = &samples->tree;
	uint32_t parent = tree->steps[step].parent;
	uint32_t function = tree->elements[tree->steps[step].element].function;
	const char *place = "";
	if (function < stack_tree_no_sample(tree)) {
		const struct dso *dso = functions_dso_of(tree->functions, function);
		const char *file = functions_at(tree->functions, function)->file;
		place = file[0] ? file : dso->path[0] ? dso->path : dso->name;
	}
	json_open_object(json, NULL);
	json_write_number(json, "id", step + FIRST_NODE);
	if (parent != PROFILE_NONE)
		json_write_number(json, "parent", parent + FIRST_NODE);
	json_open_object(json, "callFrame");
	json_write_text(json, "functionName", stack_tree_name(tree, function));
	json_write_number(json, "scriptId", 0);
	json_write_text(json, "url", place);
	json_close_object(json);
	json_close_object(json);
}

static void make_room(struct chrome_samples *samples)
{
	size_t capacity = samples->written_capacity;
	size_t count = stack_tree_step_count(&samples->tree);
	xalloc_room(&samples->written, &samples->written_capacity, count,
		    sizeof(*samples->written));
	if (samples->written_capacity > capacity)
		memset(samples->written + capacity, 0,
		       (samples->written_capacity - capacity) * sizeof(*samples->written));
}

/* The nodes of a stack that the profile does not have yet, outermost first. */
static void write_new_nodes(struct chrome_samples *samples, struct json_writer *json, uint32_t step)
{
	size_t count = 0;
	for (; step != PROFILE_NONE && samples->written[step] != samples->profiles;
	     step = samples->tree.steps[step].parent) {
		samples->written[step] = samples->profiles;
		xalloc_room(&samples->path, &samples->path_capacity, count + 1,
			    sizeof(*samples->path));
		samples->path[count++] = step;
	}
	while (count > 0)
		write_node(samples, json, samples->path[--count]);
}

static void write_nodes(struct chrome_samples *samples, struct json_writer *json,
			const struct chunk *chunk)
{
	make_room(samples);
	json_open_array(json, "nodes");
	for (size_t i = 0; i < chunk->count; i++)
		write_new_nodes(samples, json, chunk->steps[i]);
	json_close_array(json);
}

/* us after us, so that rounding does not add up. */
static void write_deltas(struct json_writer *json, const struct chunk *chunk, uint64_t *before_us)
{
	json_open_array(json, "timeDeltas");
	for (size_t i = 0; i < chunk->count; i++) {
		uint64_t time_us = chunk->pieces[i].time_ns / NS_PER_US;
		json_write_number(json, NULL, time_us - *before_us);
		*before_us = time_us;
	}
	json_close_array(json);
}

static void open_event(const struct chrome_samples *samples, struct json_writer *json,
		       const char *name, const struct chrome_thread *thread, uint64_t time_us)
{
	char id[16];
	snprintf(id, sizeof(id), "0x%" PRIx32, samples->profiles);
	chrome_open_event(json, "P", name, thread);
	json_write_text(json, "cat", "disabled-by-default-v8.cpu_profiler");
	json_write_text(json, "id", id);
	json_write_number(json, "ts", time_us);
	json_open_object(json, "args");
	json_open_object(json, "data");
}

static void close_event(struct json_writer *json)
{
	json_close_object(json);
	json_close_object(json);
	json_close_object(json);
}

static void write_chunk(struct chrome_samples *samples, struct json_writer *json,
			const struct chrome_thread *thread, const struct chunk *chunk,
			uint64_t *before_us)
{
	open_event(samples, json, "ProfileChunk", thread, *before_us);
	json_open_object(json, "cpuProfile");
	write_nodes(samples, json, chunk);
	json_open_array(json, "samples");
	for (size_t i = 0; i < chunk->count; i++)
		json_write_number(json, NULL, chunk->steps[i] + FIRST_NODE);
	json_close_array(json);
	/* A member of our own: readers count samples. */
	json_open_array(json, "cpuTimes");
	for (size_t i = 0; i < chunk->count; i++)
		chrome_write_us(json, NULL, chunk->pieces[i].cpu_ns);
	json_close_array(json);
	json_close_object(json);
	write_deltas(json, chunk, before_us);
	close_event(json);
}

void chrome_samples_write(struct chrome_samples *samples, const struct timelines *timelines,
			  uint32_t index, const struct chrome_thread *thread,
			  struct json_writer *json)
{
	const struct timeline *timeline = &timelines->timelines[index];
	uint64_t before_us = timeline->start_ns / NS_PER_US;
	struct chunk *chunk = xalloc_zeroed(1, sizeof(*chunk));
	if (timeline->first_ns / NS_PER_US < before_us)
		before_us = timeline->first_ns / NS_PER_US;
	samples->profiles++;
	timelines_rewind(timelines, index);
	for (bool is_first = true; read_chunk(samples, timelines, chunk); is_first = false) {
		if (is_first) {
			open_event(samples, json, "Profile", thread, before_us);
			json_write_number(json, "startTime", before_us);
			close_event(json);
		}
		write_chunk(samples, json, thread, chunk, &before_us);
	}
	free(chunk);
}
