/*
 * The time axis of a page: the run in cells of one length. Sums are kept for each cell.
 */
#ifndef TOOLS_PAGE_PAGE_TIME_H
#define TOOLS_PAGE_PAGE_TIME_H

#include <stdint.h>

#define PAGE_CELLS_MAX 4096u

struct page_time {
	uint64_t cell_ns; /* 0: without a clock; all is in cell 0 */
	uint32_t cells;
};

/* elapsed_ns: of the run; 0: not known, or without a clock. */
static inline struct page_time page_time_of(uint64_t elapsed_ns)
{
	if (elapsed_ns == 0)
		return (struct page_time){0, 1};
	uint64_t cell_ns = elapsed_ns / PAGE_CELLS_MAX + 1;
	return (struct page_time){cell_ns, (uint32_t)(elapsed_ns / cell_ns) + 1};
}

/* Times behind the end are in the last cell. */
static inline uint32_t page_time_cell(const struct page_time *time, uint64_t since_start_ns)
{
	uint64_t cell = time->cell_ns > 0 ? since_start_ns / time->cell_ns : 0;
	return cell < time->cells ? (uint32_t)cell : time->cells - 1;
}

#endif
