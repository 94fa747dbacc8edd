#include "tools/export/speedscope_events.h"

#include "tools/memory/xalloc.h"
#include <stdlib.h>

struct events {
	struct json_writer *json;
	const struct stack_tree *tree;
	uint32_t open;   /* the innermost step that is open; PROFILE_NONE: none */
	uint32_t *steps; /* scratch: those to be opened, the innermost first */
	size_t capacity;
};

static void write_event(const struct events *events, const char *type, uint32_t step,
			uint64_t time_ns)
{
	const struct stack_tree *tree = events->tree;
	struct json_writer *json = events->json;
	json_open_object(json, NULL);
	json_write_text(json, "type", type);
	json_write_number(json, "frame", tree->elements[tree->steps[step].element].function);
	json_write_number(json, "at", time_ns);
	json_close_object(json);
}

/* The innermost step that both are in; PROFILE_NONE: none. */
static uint32_t common_step(const struct stack_tree *tree, uint32_t one, uint32_t other)
{
	while (one != other) {
		uint32_t one_depth = one == PROFILE_NONE ? 0 : tree->steps[one].depth;
		uint32_t other_depth = other == PROFILE_NONE ? 0 : tree->steps[other].depth;
		if (one_depth >= other_depth)
			one = tree->steps[one].parent;
		else
			other = tree->steps[other].parent;
	}
	return one;
}

static void close_to(struct events *events, uint32_t step, uint64_t time_ns)
{
	while (events->open != step) {
		write_event(events, "C", events->open, time_ns);
		events->open = events->tree->steps[events->open].parent;
	}
}

/* From the open step, which it is in. */
static void open_to(struct events *events, uint32_t step, uint64_t time_ns)
{
	size_t count = 0;
	for (uint32_t at = step; at != events->open; at = events->tree->steps[at].parent) {
		xalloc_room(&events->steps, &events->capacity, count + 1, sizeof(*events->steps));
		events->steps[count++] = at;
	}
	while (count > 0)
		write_event(events, "O", events->steps[--count], time_ns);
	events->open = step;
}

void speedscope_events_write(struct json_writer *json, const struct timelines *timelines,
			     uint32_t index, struct stack_tree *tree)
{
	struct events events = {.json = json, .tree = tree, .open = PROFILE_NONE};
	struct timeline_piece piece;
	uint64_t end_ns = 0;
	json_open_array(json, "events");
	timelines_rewind(timelines, index);
	while (timelines_next(timelines, &piece)) {
		uint32_t step = stack_tree_enter(tree, &piece);
		uint64_t begin_ns = piece.time_ns > piece.cpu_ns ? piece.time_ns - piece.cpu_ns : 0;
		if (begin_ns < end_ns)
			begin_ns = end_ns;
		close_to(&events,
			 begin_ns > end_ns ? PROFILE_NONE : common_step(tree, events.open, step),
			 end_ns);
		open_to(&events, step, begin_ns);
		end_ns = begin_ns + piece.cpu_ns;
	}
	close_to(&events, PROFILE_NONE, end_ns);
	json_close_array(json);
	json_write_number(json, "startValue", 0);
	json_write_number(json, "endValue", end_ns);
	free(events.steps);
}
