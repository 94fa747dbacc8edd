/*
 * Sums by kind in one cell of time after the other: what samples and waits of a thread have in
 * common.
 */
#ifndef TOOLS_PAGE_PAGE_CELLS_H
#define TOOLS_PAGE_PAGE_CELLS_H

#include <stddef.h>
#include <stdint.h>

struct page_sum {
	uint32_t kind;
	uint64_t count;
	uint64_t ns;
};

typedef void page_cells_take(uint32_t cell, const struct page_sum *sum, void *user);

struct page_cells {            /* begins with take and user set */
	page_cells_take *take; /* called for each kind in a cell, the smallest first */
	void *user;
	uint32_t cell;
	struct page_sum *sums; /* of the cell, in the order of adding */
	size_t count;
	size_t capacity;
};

/* Cells never go back before a flush. */
void page_cells_add(struct page_cells *cells, uint32_t cell, uint32_t kind, uint64_t ns);
/* Gives the last cell away, and begins anew: for the next thread. */
void page_cells_flush(struct page_cells *cells);
void page_cells_finish(struct page_cells *cells);

#endif
