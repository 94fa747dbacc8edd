#include "tools/export/call_costs.h"

#include "containers/compare.h"
#include "profile/read/reader.h"
#include "tools/export/labels.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <stdlib.h>
#include <string.h>

/* Behind the functions of the result. */
enum { NO_SAMPLE, NO_THREAD, EXTRA_COUNT };

#define NO_PROCESS UINT32_MAX

struct call_owner {
	char *label;
	uint32_t process; /* of a thread, its process as a function; else NO_PROCESS */
};

/* A stack: outermost first. */
struct chain {
	uint32_t *functions;
	uint32_t *lines;
	size_t count;
	size_t capacity;
	size_t line_capacity;
};

struct collecting {
	struct call_costs *costs;
	bool with_threads;
	struct chain chain;
	uint32_t *seen;  /* by function of the result: the last stack that had the function */
	uint32_t number; /* of this stack */
};

static bool is_owner(const void *item, const void *wanted)
{
	const struct call_owner *owner = item;
	const struct call_owner *other = wanted;
	return owner->process == other->process && strcmp(owner->label, other->label) == 0;
}

/* Takes the label over. Returns the owner as a function. */
static uint32_t enter_owner(struct call_costs *costs, char *label, uint32_t process)
{
	struct index_map *map = &costs->owner_map;
	const struct call_owner owner = {label, process};
	const uint64_t identity[] = {process, index_map_hash_text(map, label)};
	uint32_t before = index_map_count(map);
	uint32_t index = index_map_enter(map, &costs->owners, &owner, sizeof(owner),
					 index_map_hash(map, identity, sizeof(identity)), is_owner);
	if (index < before)
		free(label);
	return functions_count(costs->stacks->functions) + EXTRA_COUNT + index;
}

static bool is_cost(const void *item, const void *wanted)
{
	const struct call_cost *cost = item;
	const struct call_cost *other = wanted;
	return cost->function == other->function && cost->callee == other->callee &&
	       cost->line == other->line;
}

void call_cost_add(struct call_cost_sum *sum, const struct call_cost_sum *more)
{
	sum->cpu_ns += more->cpu_ns;
	sum->samples += more->samples;
	sum->wait_ns += more->wait_ns;
	sum->wall_ns += more->wall_ns;
}

static void add_cost(struct call_costs *costs, uint32_t function, uint32_t callee, uint32_t line,
		     const struct call_cost_sum *part)
{
	const struct call_cost wanted = {.function = function, .callee = callee, .line = line};
	const uint32_t identity[] = {function, callee, line};
	uint32_t index =
		index_map_enter(&costs->map, &costs->costs, &wanted, sizeof(wanted),
				index_map_hash(&costs->map, identity, sizeof(identity)), is_cost);
	call_cost_add(&costs->costs[index].sum, part);
}

static void push(struct chain *chain, uint32_t function, uint32_t line)
{
	xalloc_room(&chain->functions, &chain->capacity, chain->count + 1,
		    sizeof(*chain->functions));
	xalloc_room(&chain->lines, &chain->line_capacity, chain->count + 1, sizeof(*chain->lines));
	chain->functions[chain->count] = function;
	chain->lines[chain->count++] = line;
}

/* Processes of one name are one, as in folded stacks. */
static void begin_chain(struct collecting *collecting, const struct stack_owner *owner)
{
	struct call_costs *costs = collecting->costs;
	uint32_t process = enter_owner(costs, xalloc_text(owner->process), NO_PROCESS);
	collecting->chain.count = 0;
	push(&collecting->chain, process, 0);
	if (collecting->with_threads)
		push(&collecting->chain,
		     enter_owner(costs, label_make(owner->thread, owner->tid), process), 0);
}

/* Whether this stack has the function already, further out. */
static bool is_called_inside(struct collecting *collecting, uint32_t function)
{
	if (function >= functions_count(collecting->costs->stacks->functions))
		return false;
	bool is_inside = collecting->seen[function] == collecting->number;
	collecting->seen[function] = collecting->number;
	return is_inside;
}

static void add_chain(struct collecting *collecting, const struct call_cost_sum *part)
{
	const struct chain *chain = &collecting->chain;
	const struct call_cost_sum nothing = {0};
	size_t leaf = chain->count - 1;
	collecting->number++;
	for (size_t i = 1; i < chain->count; i++) {
		bool is_inside = is_called_inside(collecting, chain->functions[i]);
		/* A caller of nothing else has a line all the same. */
		add_cost(collecting->costs, chain->functions[i - 1],
			 is_inside ? CALL_COST_OWN : chain->functions[i], chain->lines[i - 1],
			 is_inside ? &nothing : part);
	}
	add_cost(collecting->costs, chain->functions[leaf], CALL_COST_OWN, chain->lines[leaf],
		 part);
}

static void push_path(struct collecting *collecting, struct call_path *path)
{
	call_path_find_lines(path, collecting->costs->stacks->functions);
	for (size_t i = 0; i < path->count; i++)
		push(&collecting->chain, path->functions[i], path->lines[i]);
}

static void add_stacks(struct collecting *collecting, struct weighted_stacks *stacks)
{
	while (weighted_stacks_next(stacks)) {
		struct stack_owner owner = weighted_stacks_owner(stacks);
		const struct tally_times *times = weighted_stacks_times(stacks);
		const struct draws_part *sum = &stacks->entry->sum;
		const struct call_cost_sum part = {sum->cpu_ns, sum->samples, times->wait_ns,
						   times->wall_ns};
		begin_chain(collecting, &owner);
		push_path(collecting, &stacks->call_path);
		add_chain(collecting, &part);
	}
}

static void add_rests(struct collecting *collecting)
{
	struct call_costs *costs = collecting->costs;
	const struct weighted_stacks *stacks = costs->stacks;
	uint32_t extra = functions_count(stacks->functions);
	const struct call_cost_sum threadless = {.cpu_ns = weighted_stacks_threadless_ns(stacks)};
	for (uint32_t i = 0; i < profile_reader_thread_count(stacks->reader); i++) {
		const struct call_cost_sum rest = {.cpu_ns = stacks->tally->thread_rest_ns[i]};
		struct stack_owner owner = weighted_stacks_owner_of_thread(stacks, i);
		if (rest.cpu_ns == 0)
			continue;
		begin_chain(collecting, &owner);
		push(&collecting->chain, extra + NO_SAMPLE, 0);
		add_chain(collecting, &rest);
	}
	if (threadless.cpu_ns > 0)
		add_cost(costs, extra + NO_THREAD, CALL_COST_OWN, 0, &threadless);
}

/* CALL_COST_OWN plus 1 is 0, the first one. */
static int compare_costs(const void *a, const void *b)
{
	const struct call_cost *left = a;
	const struct call_cost *right = b;
	int order = compare_numbers(left->function, right->function);
	if (!order)
		order = compare_numbers((uint32_t)(left->callee + 1),
					(uint32_t)(right->callee + 1));
	return order ? order : compare_numbers(left->line, right->line);
}

void call_costs_collect(struct call_costs *costs, struct weighted_stacks *stacks, bool with_threads)
{
	struct collecting collecting = {.costs = costs, .with_threads = with_threads};
	*costs = (struct call_costs){.stacks = stacks};
	collecting.seen =
		xalloc_zeroed(functions_count(stacks->functions), sizeof(*collecting.seen));
	add_stacks(&collecting, stacks);
	add_rests(&collecting);
	if (index_map_count(&costs->map) > 1)
		qsort(costs->costs, index_map_count(&costs->map), sizeof(*costs->costs),
		      compare_costs);
	free(collecting.seen);
	free(collecting.chain.functions);
	free(collecting.chain.lines);
}

void call_costs_finish(struct call_costs *costs)
{
	for (uint32_t i = 0; i < index_map_count(&costs->owner_map); i++)
		free(costs->owners[i].label);
	free(costs->owners);
	index_map_finish(&costs->owner_map);
	free(costs->costs);
	index_map_finish(&costs->map);
}

uint32_t call_costs_function_count(const struct call_costs *costs)
{
	return functions_count(costs->stacks->functions) + EXTRA_COUNT +
	       index_map_count(&costs->owner_map);
}

struct call_place call_costs_place(const struct call_costs *costs, uint32_t index)
{
	uint32_t extra = functions_count(costs->stacks->functions);
	if (index < extra) {
		const struct function *function = functions_at(costs->stacks->functions, index);
		const struct dso *dso = functions_dso_of(costs->stacks->functions, index);
		return (struct call_place){dso->path[0] ? dso->path : dso->name, function->file,
					   function->full};
	}
	if (index < extra + EXTRA_COUNT)
		return (struct call_place){"[Unknown]", "",
					   index == extra + NO_SAMPLE ? TALLY_NO_SAMPLE
								      : TALLY_NO_THREAD};
	const struct call_owner *owner = &costs->owners[index - extra - EXTRA_COUNT];
	const char *kind = owner->process == NO_PROCESS ? "[process]" : "[thread]";
	return (struct call_place){kind, kind, owner->label};
}
