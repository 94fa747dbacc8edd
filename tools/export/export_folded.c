#include "tools/export/export.h"
#include "tools/export/folded_lines.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>

#define NS_PER_US UINT64_C(1000)

/* Different addresses of a function make one stack here: lines of equal names are one. */
struct folding {
	struct folded_lines lines;
	const struct functions *functions;
	uint32_t *names; /* by function: the name's number and 1; 0: not known yet */
	uint32_t *line;  /* the one being made */
	size_t length;
	size_t capacity;
};

static void append_name(struct folding *folding, uint32_t name)
{
	xalloc_room(&folding->line, &folding->capacity, folding->length + 1,
		    sizeof(*folding->line));
	folding->line[folding->length++] = name;
}

static void append_function(struct folding *folding, uint32_t function)
{
	uint32_t *name_and_1 = &folding->names[function];
	if (*name_and_1 == 0)
		*name_and_1 =
			1 + folded_lines_name(&folding->lines,
					      functions_at(folding->functions, function)->name);
	append_name(folding, *name_and_1 - 1);
}

static void append_owner(struct folding *folding, const struct stack_owner *owner,
			 bool with_threads)
{
	append_name(folding, folded_lines_name(&folding->lines, owner->process));
	if (!with_threads)
		return;
	char *thread = xalloc_printf("%s-%" PRIu32, owner->thread, owner->tid);
	append_name(folding, folded_lines_name(&folding->lines, thread));
	free(thread);
}

/* ns, to be rounded once per line. */
static uint64_t count_of(const struct weighted_stacks *stacks, enum export_weight weight)
{
	switch (weight) {
	case EXPORT_WEIGHT_OWN:
	case EXPORT_WEIGHT_SAMPLES:
		return weighted_stacks_samples(stacks);
	case EXPORT_WEIGHT_CPU:
		return stacks->entry->sum.cpu_ns;
	case EXPORT_WEIGHT_WALL:
		return weighted_stacks_times(stacks)->wall_ns;
	default:
		return weighted_stacks_times(stacks)->wait_ns;
	}
}

static void fold_stacks(struct weighted_stacks *stacks, const struct export_options *options,
			struct folding *folding)
{
	while (weighted_stacks_next(stacks)) {
		const struct call_path *path = &stacks->call_path;
		struct stack_owner owner = weighted_stacks_owner(stacks);
		uint64_t count = count_of(stacks, options->weight);
		if (count == 0)
			continue;
		folding->length = 0;
		append_owner(folding, &owner, options->with_threads);
		for (size_t i = 0; i < path->count; i++)
			append_function(folding, path->functions[i]);
		folded_lines_add(&folding->lines, folding->line, folding->length, count);
	}
}

TBRW_U32 export_folded_write(struct weighted_stacks *stacks, const struct export_options *options,
			     FILE *stream)
{
	struct folding folding = {.functions = stacks->functions};
	folding.names = xalloc_zeroed(functions_count(stacks->functions), sizeof(*folding.names));
	bool is_number = options->weight <= EXPORT_WEIGHT_SAMPLES ||
			 (options->weight == EXPORT_WEIGHT_CPU &&
			  profile_reader_counted_event(stacks->reader));
	fold_stacks(stacks, options, &folding);
	folded_lines_write(&folding.lines, is_number ? 1 : NS_PER_US, stream);
	folded_lines_finish(&folding.lines);
	free(folding.names);
	free(folding.line);
	return VT_SUCCESS;
}
