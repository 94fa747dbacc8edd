#include "tools/stacks/call_path.h"

#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void call_path_finish(struct call_path *call_path)
{
	free(call_path->functions);
	free(call_path->frames);
	free(call_path->lines);
	free(call_path->nodes);
	memset(call_path, 0, sizeof(*call_path));
}

static void add_function(struct call_path *call_path, uint32_t function, uint32_t frame)
{
	/* Several unknown frames in a row are one [Unknown frame(s)]. */
	if (function <= FUNCTION_GUESSED && call_path->count > 0 &&
	    call_path->functions[call_path->count - 1] == function)
		return;
	xalloc_room(&call_path->functions, &call_path->capacity, call_path->count + 1,
		    sizeof(*call_path->functions));
	xalloc_room(&call_path->frames, &call_path->frame_capacity, call_path->count + 1,
		    sizeof(*call_path->frames));
	call_path->frames[call_path->count] = frame;
	call_path->functions[call_path->count++] = function;
}

/* Fills call_path->nodes leaf first; true if the stack was cut. */
static bool collect_nodes(struct call_path *call_path, const struct profile_reader *reader,
			  uint32_t node, size_t *count)
{
	for (*count = 0; node != 0 && node != PROFILE_NONE; (*count)++) {
		if (*count == CALL_PATH_DEPTH_MAX)
			return true;
		xalloc_room(&call_path->nodes, &call_path->node_capacity, *count + 1,
			    sizeof(*call_path->nodes));
		call_path->nodes[*count] = node;
		node = profile_reader_node(reader, node)->parent;
	}
	return false;
}

static bool is_system(const struct functions *functions, uint32_t function)
{
	return functions_dso_of(functions, function)->is_system;
}

static void keep_function(struct call_path *call_path, size_t from, size_t to)
{
	call_path->functions[to] = call_path->functions[from];
	call_path->frames[to] = call_path->frames[from];
}

static void apply_mode(struct call_path *call_path, const struct functions *functions,
		       enum call_path_mode mode)
{
	assert(call_path->count > 0);
	size_t kept = 0;
	bool was_system = false;
	for (size_t i = 0; i < call_path->count; i++) {
		bool system = is_system(functions, call_path->functions[i]);
		if (!system || (mode == CALL_PATH_USER_PLUS_ONE && !was_system))
			keep_function(call_path, i, kept++);
		was_system = system;
	}
	if (kept == 0)
		kept = 1; /* nothing was moved: the outermost one */
	call_path->count = kept;
}

static bool is_guessed(const struct profile_reader *reader, uint32_t node)
{
	uint32_t frame = profile_reader_node(reader, node)->frame;
	return frame != PROFILE_NONE &&
	       profile_reader_frame(reader, frame)->flags & PROFILE_FRAME_GUESSED;
}

void call_path_of_stack(struct call_path *call_path, const struct profile_reader *reader,
			const struct functions *functions, uint32_t node, uint32_t state,
			enum call_path_mode mode)
{
	size_t count;
	bool is_cut = collect_nodes(call_path, reader, node, &count);
	/* The seam comes between the guessed frames and the verified ones, or else in front. */
	bool has_seam = state == PROFILE_STACK_GUESSED ||
			(count > 0 && is_guessed(reader, call_path->nodes[count - 1]));
	call_path->count = 0;
	if (state == PROFILE_STACK_SKIPPED || is_cut)
		add_function(call_path, FUNCTION_SKIPPED, PROFILE_NONE);
	if (has_seam && (count == 0 || is_guessed(reader, call_path->nodes[0]))) {
		add_function(call_path, FUNCTION_GUESSED, PROFILE_NONE);
		has_seam = false;
	}
	if (count == 0)
		add_function(call_path, node == TALLY_KERNEL ? FUNCTION_KERNEL : FUNCTION_UNKNOWN,
			     PROFILE_NONE);
	while (count-- > 0) {
		uint32_t frame = profile_reader_node(reader, call_path->nodes[count])->frame;
		uint32_t function_count = 0;
		const uint32_t *of_frame = functions_of_frame(functions, frame, &function_count);
		if (has_seam && !is_guessed(reader, call_path->nodes[count])) {
			add_function(call_path, FUNCTION_GUESSED, PROFILE_NONE);
			has_seam = false;
		}
		for (uint32_t i = 0; i < function_count; i++)
			add_function(call_path, of_frame[i], frame);
	}
	assert(!has_seam); /* shown once */
	if (mode != CALL_PATH_ALL)
		apply_mode(call_path, functions, mode);
}

void call_path_add_label(struct call_path *call_path, uint32_t function, bool alone)
{
	if (alone)
		call_path->count = 0;
	add_function(call_path, function, PROFILE_NONE);
}

/* Inlined functions stand behind the one that they are inlined into, of the same frame. */
void call_path_find_lines(struct call_path *call_path, const struct functions *functions)
{
	uint32_t depth = 0;
	xalloc_room(&call_path->lines, &call_path->line_capacity, call_path->count,
		    sizeof(*call_path->lines));
	for (size_t i = 0; i < call_path->count; i++) {
		uint32_t frame = call_path->frames[i];
		uint32_t count = 0;
		call_path->lines[i] = 0;
		if (frame == PROFILE_NONE)
			continue;
		const uint32_t *of_frame = functions_of_frame(functions, frame, &count);
		bool is_inlined = i > 0 && call_path->frames[i - 1] == frame && depth + 1 < count &&
				  of_frame[depth + 1] == call_path->functions[i];
		depth = is_inlined ? depth + 1 : 0;
		call_path->lines[i] = functions_lines_of_frame(functions, frame)[depth];
	}
}

/* Names may be long: so much of a text, and the name that reaches beyond. */
#define TEXT_MAX 4096u

char *call_path_text(const struct call_path *call_path, const struct functions *functions,
		     size_t most)
{
	char *text = xalloc_text("");
	for (size_t i = call_path->count; i-- > 0;) {
		bool is_all = call_path->count - i <= most && strlen(text) <= TEXT_MAX;
		uint32_t function = call_path->functions[i];
		char *longer =
			xalloc_printf("%s%s%s", text, text[0] ? " < " : "",
				      is_all ? functions_at(functions, function)->name : "...");
		free(text);
		text = longer;
		if (!is_all)
			break;
	}
	return text;
}

uint32_t call_path_leaf(const struct call_path *call_path)
{
	assert(call_path->count > 0);
	return call_path->functions[call_path->count - 1];
}

static bool has_function(const struct call_path *call_path, const struct functions *functions,
			 const struct filter_condition *condition)
{
	size_t i = 0;
	while (i < call_path->count &&
	       !filter_takes_on_stack(condition, functions_at(functions, call_path->functions[i])))
		i++;
	return i < call_path->count;
}

bool call_path_is_taken(const struct call_path *call_path, const struct functions *functions,
			const struct filter *filter)
{
	uint32_t leaf = call_path_leaf(call_path);
	bool takes = filter_takes_function(filter, functions_at(functions, leaf),
					   functions_dso_of(functions, leaf));
	for (size_t i = 0; takes && i < filter->count; i++)
		if (filter->conditions[i].key == FILTER_STACK)
			takes = has_function(call_path, functions, &filter->conditions[i]);
	return takes;
}
