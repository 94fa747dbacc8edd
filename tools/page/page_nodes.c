#include "tools/page/page_nodes.h"

#include "profile/read/reader.h"
#include "tools/functions/functions.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>

struct page_node {
	uint32_t parent; /* PROFILE_NONE: a root */
	uint32_t function;
	uint32_t line; /* 0: not known */
};

/* Nodes that differ in lines alone, their own or their callers', are one call. */
struct page_call {
	uint32_t parent; /* another call; PROFILE_NONE: a root */
	uint32_t function;
};

void page_nodes_finish(struct page_nodes *nodes)
{
	stack_tree_finish(&nodes->tree);
	free(nodes->of_steps);
}

static bool is_node(const void *item, const void *wanted)
{
	const struct page_node *node = item;
	const struct page_node *other = wanted;
	return node->parent == other->parent && node->function == other->function &&
	       node->line == other->line;
}

static uint32_t line_of(const struct stack_tree *tree, const struct stack_element *element)
{
	uint32_t count;
	if (element->frame == PROFILE_NONE)
		return 0;
	const uint32_t *of_frame = functions_of_frame(tree->functions, element->frame, &count);
	if (element->depth >= count || of_frame[element->depth] != element->function)
		return 0;
	return functions_lines_of_frame(tree->functions, element->frame)[element->depth];
}

/* Numbers the functions as they come: those in use alone are in the file. */
struct used_functions {
	uint32_t *numbers; /* by function: its number and 1; 0: none */
	uint32_t *list;
	uint32_t count;
};

static uint32_t use_function(struct used_functions *used, uint32_t function)
{
	if (used->numbers[function] == 0) {
		used->list[used->count++] = function;
		used->numbers[function] = used->count;
	}
	return used->numbers[function] - 1;
}

static void write_names(const struct stack_tree *tree, const struct used_functions *used,
			struct json_writer *json)
{
	json_open_array(json, "names");
	for (uint32_t i = 0; i < used->count; i++)
		json_write_text(json, NULL, stack_tree_name(tree, used->list[i]));
	json_close_array(json);
}

static bool is_of_code(const struct stack_tree *tree, uint32_t function)
{
	return function < stack_tree_no_sample(tree);
}

/* Those of the two kinds of time without a stack have the module of unknown code. */
static void write_places(const struct stack_tree *tree, const struct used_functions *used,
			 struct json_writer *json)
{
	struct index_texts files = {0};
	json_open_array(json, "function.file");
	for (uint32_t i = 0; i < used->count; i++)
		json_write_number(json, NULL,
				  index_texts_enter(&files, is_of_code(tree, used->list[i])
								    ? functions_at(tree->functions,
										   used->list[i])
									      ->file
								    : ""));
	json_close_array(json);
	json_open_array(json, "files");
	for (uint32_t i = 0; i < index_texts_count(&files); i++)
		json_write_text(json, NULL, files.texts[i]);
	json_close_array(json);
	index_texts_finish(&files);
	json_open_array(json, "function.module");
	for (uint32_t i = 0; i < used->count; i++) {
		uint32_t known = is_of_code(tree, used->list[i]) ? used->list[i] : FUNCTION_UNKNOWN;
		json_write_number(json, NULL, functions_at(tree->functions, known)->dso);
	}
	json_close_array(json);
}

/* By index, as the page knows them: 1 and FUNCTION_UNKNOWN for missing knowledge, 5 for time in no
 * sample, 6 of no known thread, 0 for code, 10 for inlined code. */
static void write_kinds(const struct stack_tree *tree, const struct used_functions *used,
			struct json_writer *json)
{
	json_open_array(json, "function.kind");
	for (uint32_t i = 0; i < used->count; i++) {
		uint32_t function = used->list[i];
		uint32_t kind = 0;
		if (!is_of_code(tree, function))
			kind = 5 + (function - stack_tree_no_sample(tree));
		else if (function <= FUNCTION_KERNEL)
			kind = 1 + function;
		else if (functions_at(tree->functions, function)->is_inlined)
			kind = 10;
		json_write_number(json, NULL, kind);
	}
	json_close_array(json);
}

static void write_modules(const struct functions *functions, struct json_writer *json)
{
	json_open_array(json, "modules");
	for (uint32_t i = 0; i < functions_dso_count(functions); i++) {
		const struct dso *dso = functions_dso(functions, i);
		json_open_object(json, NULL);
		json_write_text(json, "name", dso->name);
		json_write_text(json, "path", dso->path);
		json_write_bool(json, "system", dso->is_system);
		json_close_object(json);
	}
	json_close_array(json);
}

static bool is_call(const void *item, const void *wanted)
{
	const struct page_call *call = item;
	const struct page_call *other = wanted;
	return call->parent == other->parent && call->function == other->function;
}

/* Nodes and calls as far as they are merged. */
struct merging {
	struct page_columns *columns;
	struct used_functions *used;
	struct index_map node_map;
	struct page_node *nodes;
	struct index_map call_map;
	struct page_call *calls;
	uint32_t *of_nodes; /* the call of each node */
	size_t capacity;
};

/* Whether a caller is the same function. */
static bool is_inner(const struct page_call *calls, uint32_t call)
{
	uint32_t at = calls[call].parent;
	while (at != PROFILE_NONE && calls[at].function != calls[call].function)
		at = calls[at].parent;
	return at != PROFILE_NONE;
}

/* Of the last node, which is new. */
static void add_call(struct merging *merging, uint32_t node)
{
	const struct page_node *last = &merging->nodes[node];
	const struct page_call wanted = {last->parent == PROFILE_NONE
						 ? PROFILE_NONE
						 : merging->of_nodes[last->parent],
					 last->function};
	uint32_t count = index_map_count(&merging->call_map);
	uint32_t call =
		index_map_enter(&merging->call_map, &merging->calls, &wanted, sizeof(wanted),
				index_map_hash(&merging->call_map, &wanted, sizeof(wanted)),
				is_call);
	xalloc_room(&merging->of_nodes, &merging->capacity, (size_t)node + 1,
		    sizeof(*merging->of_nodes));
	merging->of_nodes[node] = call;
	page_columns_add(merging->columns, PAGE_NODE_SAME, count - call);
	if (call == count && is_inner(merging->calls, call))
		page_columns_add_difference(merging->columns, PAGE_NODE_INNER, call);
}

static uint32_t add_node(struct merging *merging, const struct page_node *wanted)
{
	uint32_t count = index_map_count(&merging->node_map);
	uint32_t node =
		index_map_enter(&merging->node_map, &merging->nodes, wanted, sizeof(*wanted),
				index_map_hash(&merging->node_map, wanted, sizeof(*wanted)),
				is_node);
	if (node < count)
		return node;
	page_columns_add(merging->columns, PAGE_NODE_PARENT,
			 wanted->parent == PROFILE_NONE ? 0 : node - wanted->parent);
	page_columns_add(merging->columns, PAGE_NODE_FUNCTION,
			 use_function(merging->used, wanted->function));
	page_columns_add(merging->columns, PAGE_NODE_LINE, wanted->line);
	add_call(merging, node);
	return node;
}

static void merge_steps(struct page_nodes *nodes, struct used_functions *used,
			struct page_columns *columns, uint32_t *call_count)
{
	const struct stack_tree *tree = &nodes->tree;
	struct merging merging = {.columns = columns, .used = used};
	for (uint32_t i = 0; i < stack_tree_step_count(tree); i++) {
		const struct stack_step *step = &tree->steps[i];
		const struct stack_element *element = &tree->elements[step->element];
		const struct page_node wanted = {step->parent == PROFILE_NONE
							 ? PROFILE_NONE
							 : nodes->of_steps[step->parent],
						 element->function, line_of(tree, element)};
		nodes->of_steps[i] = add_node(&merging, &wanted);
	}
	*call_count = index_map_count(&merging.call_map);
	index_map_finish(&merging.node_map);
	index_map_finish(&merging.call_map);
	free(merging.nodes);
	free(merging.calls);
	free(merging.of_nodes);
}

void page_nodes_merge(struct page_nodes *nodes, struct page_columns *columns,
		      struct json_writer *json)
{
	const struct stack_tree *tree = &nodes->tree;
	size_t functions = (size_t)stack_tree_no_sample(tree) + 2;
	uint32_t call_count;
	struct used_functions used = {.numbers = xalloc_zeroed(functions, sizeof(uint32_t)),
				      .list = xalloc_zeroed(functions, sizeof(uint32_t))};
	nodes->of_steps = xalloc_zeroed(stack_tree_step_count(tree), sizeof(*nodes->of_steps));
	merge_steps(nodes, &used, columns, &call_count);
	json_write_number(json, "calls", call_count);
	write_names(tree, &used, json);
	write_kinds(tree, &used, json);
	write_places(tree, &used, json);
	write_modules(tree->functions, json);
	free(used.numbers);
	free(used.list);
}
