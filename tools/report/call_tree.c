#include "tools/report/call_tree.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

static bool is_node(const void *item, const void *wanted)
{
	const struct call_tree_node *node = item;
	const struct call_tree_node *other = wanted;
	return node->parent == other->parent && node->function == other->function;
}

static uint32_t find_child(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	const struct call_tree_node wanted = {.function = function, .parent = parent};
	const uint32_t key[2] = {parent, function};
	return index_map_enter(&tree->map, &tree->nodes, &wanted, sizeof(wanted),
			       index_map_hash(&tree->map, key, sizeof(key)), is_node);
}

void call_tree_init(struct call_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	find_child(tree, CALL_TREE_NONE, CALL_TREE_NONE);
}

void call_tree_finish(struct call_tree *tree)
{
	free(tree->nodes);
	index_map_finish(&tree->map);
	memset(tree, 0, sizeof(*tree));
}

void call_tree_add(struct call_tree *tree, const uint32_t *functions, size_t count, bool reversed,
		   const struct draws_part *part)
{
	uint32_t at = 0;
	for (size_t i = 0;; i++) {
		draws_add_part(&tree->nodes[at].total, part);
		if (i == count)
			break;
		at = find_child(tree, at, functions[reversed ? count - 1 - i : i]);
	}
	draws_add_part(&tree->nodes[at].self, part);
}

struct ordering {
	const struct call_tree *tree;
	const uint32_t *rank;
	uint32_t *depth; /* of each node */
};

static int compare_weight(const void *a, const void *b, void *user)
{
	const struct ordering *ordering = user;
	uint32_t left_index = *(const uint32_t *)a;
	uint32_t right_index = *(const uint32_t *)b;
	const struct call_tree_node *left = &ordering->tree->nodes[left_index];
	const struct call_tree_node *right = &ordering->tree->nodes[right_index];
	int order = compare_numbers(right->total.cpu_ns, left->total.cpu_ns);
	if (!order)
		order = compare_numbers(right->total.samples, left->total.samples);
	/* Of a path without branches the parent comes first. */
	if (!order)
		order = compare_numbers(ordering->depth[left_index], ordering->depth[right_index]);
	/* Of one depth with the root is only the root itself. */
	if (!order && left->function != CALL_TREE_NONE)
		order = compare_numbers(ordering->rank[left->function],
					ordering->rank[right->function]);
	return order ? order : compare_numbers(left_index, right_index);
}

static uint32_t *measure_depth(const struct call_tree *tree)
{
	uint32_t count = index_map_count(&tree->map);
	uint32_t *depth = xalloc_zeroed(count, sizeof(*depth));
	for (uint32_t i = 1; i < count; i++)
		depth[i] = depth[tree->nodes[i].parent] + 1;
	return depth;
}

/* Links the kept nodes: first_child and next_sibling of each, siblings in order of `order`. */
static void link_children(const struct call_tree *tree, const uint32_t *order, size_t count,
			  uint32_t *first_child, uint32_t *next_sibling)
{
	uint32_t nodes = index_map_count(&tree->map);
	memset(first_child, 0xff, nodes * sizeof(*first_child));
	memset(next_sibling, 0xff, nodes * sizeof(*next_sibling));
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = tree->nodes[order[i]].parent;
		if (parent == CALL_TREE_NONE)
			continue;
		next_sibling[order[i]] = first_child[parent];
		first_child[parent] = order[i];
	}
}

struct call_tree_row *call_tree_rows(const struct call_tree *tree, const uint32_t *rank,
				     size_t limit, size_t *count)
{
	uint32_t nodes = index_map_count(&tree->map);
	struct ordering ordering = {tree, rank, measure_depth(tree)};
	uint32_t *order = xalloc_zeroed(nodes, sizeof(*order));
	uint32_t *first_child = xalloc_zeroed(nodes, sizeof(*first_child));
	uint32_t *next_sibling = xalloc_zeroed(nodes, sizeof(*next_sibling));
	struct call_tree_row *rows = xalloc_zeroed(nodes, sizeof(*rows));
	for (uint32_t i = 0; i < nodes; i++)
		order[i] = i;
	qsort_r(order, nodes, sizeof(*order), compare_weight, &ordering);
	size_t kept = limit > 0 && limit < nodes ? limit : nodes;
	link_children(tree, order, kept, first_child, next_sibling);

	*count = 0;
	for (uint32_t at = 0; at != CALL_TREE_NONE;) {
		rows[(*count)++] = (struct call_tree_row){at, ordering.depth[at]};
		if (first_child[at] != CALL_TREE_NONE) {
			at = first_child[at];
			continue;
		}
		while (at != CALL_TREE_NONE && next_sibling[at] == CALL_TREE_NONE)
			at = tree->nodes[at].parent;
		if (at != CALL_TREE_NONE)
			at = next_sibling[at];
	}
	free(ordering.depth);
	free(order);
	free(first_child);
	free(next_sibling);
	return rows;
}
