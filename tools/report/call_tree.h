/*
 * Call paths merged into a tree: from the root down (top-down), or from the leaf up (bottom-up).
 */
#ifndef TOOLS_REPORT_CALL_TREE_H
#define TOOLS_REPORT_CALL_TREE_H

#include "tools/memory/index_map.h"
#include "tools/samples/draws.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_TREE_NONE UINT32_MAX

struct call_tree_node {
	uint32_t function;       /* CALL_TREE_NONE at the root, node 0 */
	uint32_t parent;         /* CALL_TREE_NONE at the root */
	struct draws_part self;  /* of call paths that end here */
	struct draws_part total; /* and of longer ones: self and all children's totals */
};

struct call_tree {
	struct call_tree_node *nodes; /* a parent before its children */
	struct index_map map;
};

void call_tree_init(struct call_tree *tree);
void call_tree_finish(struct call_tree *tree);

/* Adds a path: its first function, or its last if reversed, is a child of the root. */
void call_tree_add(struct call_tree *tree, const uint32_t *functions, size_t count, bool reversed,
		   const struct draws_part *part);

struct call_tree_row {
	uint32_t node;
	uint32_t depth; /* 0: the root */
};

/*
 * The tree in display order: depth first, siblings by total time, then samples (most first), then
 * by `rank` of their functions (ascending). limit: number of rows, the heaviest; they hang
 * together, since no node is lighter than its children. 0: all. The caller frees the rows.
 */
struct call_tree_row *call_tree_rows(const struct call_tree *tree, const uint32_t *rank,
				     size_t limit, size_t *count);

#endif
