#include "tools/analysis/call_path.h"

#include "tools/analysis/functions.h"
#include "tools/analysis/tally.h"
#include "tools/cli/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void chain_finish(struct chain *chain)
{
	free(chain->functions);
	free(chain->nodes);
	memset(chain, 0, sizeof(*chain));
}

static void add_function(struct chain *chain, uint32_t function)
{
	/* Several unknown frames in a row are one [Unknown frame(s)]. */
	if (function <= FUNCTION_GUESSED && chain->count > 0 &&
	    chain->functions[chain->count - 1] == function)
		return;
	xalloc_room(&chain->functions, &chain->capacity, chain->count + 1,
		    sizeof(*chain->functions));
	chain->functions[chain->count++] = function;
}

/* Fills chain->nodes leaf first; true if the chain was cut. */
static bool collect_nodes(struct chain *chain, const struct profile_reader *reader, uint32_t node,
			  size_t *count)
{
	for (*count = 0; node != 0 && node != PROFILE_NONE; (*count)++) {
		if (*count == CHAIN_DEPTH_MAX)
			return true;
		xalloc_room(&chain->nodes, &chain->node_capacity, *count + 1,
			    sizeof(*chain->nodes));
		chain->nodes[*count] = node;
		node = profile_reader_node(reader, node)->parent;
	}
	return false;
}

static bool is_system(const struct functions *functions, uint32_t function)
{
	return functions_module_of(functions, function)->is_system;
}

static void apply_mode(struct chain *chain, const struct functions *functions, enum chain_mode mode)
{
	size_t kept = 0;
	uint32_t outermost = chain->functions[0];
	bool was_system = false;
	for (size_t i = 0; i < chain->count; i++) {
		bool system = is_system(functions, chain->functions[i]);
		if (!system || (mode == CHAIN_USER_PLUS_ONE && !was_system))
			chain->functions[kept++] = chain->functions[i];
		was_system = system;
	}
	if (kept == 0)
		chain->functions[kept++] = outermost;
	chain->count = kept;
}

static bool is_guessed(const struct profile_reader *reader, uint32_t node)
{
	uint32_t frame = profile_reader_node(reader, node)->frame;
	return frame != PROFILE_NONE &&
	       profile_reader_frame(reader, frame)->flags & PROFILE_FRAME_GUESSED;
}

void chain_of_stack(struct chain *chain, const struct profile_reader *reader,
		    const struct functions *functions, uint32_t node, uint32_t state,
		    enum chain_mode mode)
{
	size_t count;
	bool is_cut = collect_nodes(chain, reader, node, &count);
	/* The seam comes between the guessed frames and the verified ones, or else in front. */
	bool has_seam = state == PROFILE_STACK_GUESSED ||
			(count > 0 && is_guessed(reader, chain->nodes[count - 1]));
	chain->count = 0;
	if (state == PROFILE_STACK_SKIPPED || is_cut)
		add_function(chain, FUNCTION_SKIPPED);
	if (has_seam && (count == 0 || is_guessed(reader, chain->nodes[0]))) {
		add_function(chain, FUNCTION_GUESSED);
		has_seam = false;
	}
	if (count == 0)
		add_function(chain, node == TALLY_KERNEL ? FUNCTION_KERNEL : FUNCTION_UNKNOWN);
	while (count-- > 0) {
		uint32_t frame = profile_reader_node(reader, chain->nodes[count])->frame;
		uint32_t function_count = 0;
		const uint32_t *of_frame = functions_of_frame(functions, frame, &function_count);
		if (has_seam && !is_guessed(reader, chain->nodes[count])) {
			add_function(chain, FUNCTION_GUESSED);
			has_seam = false;
		}
		for (uint32_t i = 0; i < function_count; i++)
			add_function(chain, of_frame[i]);
	}
	if (mode != CHAIN_ALL)
		apply_mode(chain, functions, mode);
}

uint32_t chain_leaf(const struct chain *chain)
{
	return chain->functions[chain->count - 1];
}
