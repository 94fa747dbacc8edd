/*
 * The stacks of a page as one tree: calls of a function from a line are one node. A node's parent
 * has a smaller index.
 */
#ifndef TOOLS_PAGE_PAGE_NODES_H
#define TOOLS_PAGE_PAGE_NODES_H

#include "tools/json/json_writer.h"
#include "tools/page/page_columns.h"
#include "tools/timelines/stack_tree.h"
#include <stdint.h>

struct page_nodes { /* begins with the tree's first members set, by frame */
	struct stack_tree tree;
	uint32_t *of_steps; /* once merged: the node of each step of the tree */
};

void page_nodes_finish(struct page_nodes *nodes);

/* After the last stack_tree_enter: writes the columns of nodes, and the functions and modules that
 * they are in as members of the open object. */
void page_nodes_merge(struct page_nodes *nodes, struct page_columns *columns,
		      struct json_writer *json);

#endif
