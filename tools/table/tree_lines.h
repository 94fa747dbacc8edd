/*
 * The lines in front of a tree's names, one column a level: a line down to each node's next
 * sibling.
 */
#ifndef TOOLS_TABLE_TREE_LINES_H
#define TOOLS_TABLE_TREE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_lines {
	bool *has_next; /* of each row: a sibling comes further down */
	bool *is_open;  /* of each level, while rows are drawn: its line goes on */
	bool is_ascii;
};

/* depths: of the rows in the order they are drawn, 0 for a root. is_ascii: the output has no other
 * characters. */
void tree_lines_init(struct tree_lines *lines, const uint32_t *depths, size_t count, bool is_ascii);
void tree_lines_finish(struct tree_lines *lines);

/* Columns of a row's lines. */
size_t tree_lines_width(uint32_t depth);

/* The lines of a row, for the caller to free. Rows are asked for in order, each one. */
char *tree_lines_draw(struct tree_lines *lines, size_t row, uint32_t depth);

#endif
