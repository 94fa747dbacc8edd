/*
 * The time of intervals' owners in cells: one from each start or end of an interval to the next. An
 * item (tools/intervals/spans.h) is then a few runs of cells, which hold the same samples.
 */
#ifndef TOOLS_INTERVALS_SPAN_CELLS_H
#define TOOLS_INTERVALS_SPAN_CELLS_H

#include "tools/intervals/spans.h"

/* Of cells or entries: from the first on, before the end. */
struct span_range {
	uint32_t first, end;
};

struct span_cells { /* all zero: none */
	uint32_t count;
	uint32_t item_count;
	/* The runs of an item are runs[item_runs[item]] up to runs[item_runs[item + 1]]. They do
	 * not overlap. */
	size_t *item_runs;
	struct span_range *runs;

	/* The rest is private. */
	struct spans_owner *owners; /* their cells */
	size_t owner_count;
	uint64_t *borders; /* by cell: its start */
	bool *is_covered;  /* by cell: by an interval */
	/* Items with owners of different kinds, which may have a sample in common: each has one
	 * cell, mixed_first + item. */
	struct spans mixed;
	uint32_t mixed_first;
	uint64_t *seen; /* by item: the sample found last */
	uint64_t sample;
};

/* Reads the intervals: 80 bytes of memory each meanwhile, 35 then. Returns the reader's code. */
TBRW_U32 span_cells_load(struct span_cells *cells, struct profile_reader *reader,
			 spans_choice *choose, void *user);
void span_cells_finish(struct span_cells *cells);

/* Calls back for each cell that a sample belongs to: one of its thread, its process, and all, and
 * those of mixed items. Time: the logarithm of the number of intervals, and mixed items. */
typedef void span_cells_callback(uint32_t cell, void *user);
void span_cells_at(struct span_cells *cells, uint32_t pid, uint32_t tid, uint64_t tsc,
		   span_cells_callback *callback, void *user);

#endif
