/*
 * The columns of a page's data: numbers in LEB128, 7 bits a byte, the lowest first. In a column of
 * differences each number is the one before plus the stored one, which is zigzag: 0, -1, 1, -2.
 */
#ifndef TOOLS_PAGE_PAGE_COLUMNS_H
#define TOOLS_PAGE_PAGE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* In the order of the file. */
enum page_column_id {
	PAGE_NODE_PARENT, /* how many nodes before; 0: none, a root */
	PAGE_NODE_FUNCTION,
	PAGE_NODE_LINE,
	PAGE_NODE_SAME,
	PAGE_NODE_INNER,  /* differences */
	PAGE_SAMPLE_CELL, /* differences */
	PAGE_SAMPLE_NODE, /* differences */
	PAGE_SAMPLE_NS,
	PAGE_STATE_CELLS,
	PAGE_STATE_SHARES,
	PAGE_WAIT_CELL, /* differences */
	PAGE_WAIT_CLASS,
	PAGE_WAIT_COUNT,
	PAGE_WAIT_NS,
	PAGE_CLASS_ITEM,
	PAGE_CLASS_NODE,   /* and 1 */
	PAGE_CLASS_WAKER,  /* and 1 */
	PAGE_CLASS_WAKING, /* and 1 */
	PAGE_LEVEL_CELL,   /* differences */
	PAGE_LEVEL_RUNNING,
	PAGE_LEVEL_NS,
	PAGE_DIFF_BASE_NS, /* of pages of differences: the weights stand behind their times */
	PAGE_DIFF_BASE_WEIGHT,
	PAGE_DIFF_NEW_NS,
	PAGE_DIFF_NEW_WEIGHT,
	PAGE_COLUMN_COUNT
};

struct page_column {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	uint64_t count;
	uint64_t before; /* the last number, in a column of differences */
};

struct page_columns { /* all zero: empty */
	struct page_column columns[PAGE_COLUMN_COUNT];
};

void page_columns_finish(struct page_columns *columns);

void page_columns_add(struct page_columns *columns, enum page_column_id id, uint64_t number);
/* To a column of differences. Numbers are below 2^63. */
void page_columns_add_difference(struct page_columns *columns, enum page_column_id id,
				 uint64_t number);

/* The column's name in the file. */
const char *page_columns_name(enum page_column_id id);

#endif
