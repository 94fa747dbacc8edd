#include "tools/page/page_cells.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>

static int compare_sums(const void *a, const void *b)
{
	return compare_numbers(((const struct page_sum *)a)->kind,
			       ((const struct page_sum *)b)->kind);
}

void page_cells_flush(struct page_cells *cells)
{
	if (cells->count > 1)
		qsort(cells->sums, cells->count, sizeof(*cells->sums), compare_sums);
	for (size_t i = 0; i < cells->count;) {
		struct page_sum sum = cells->sums[i++];
		for (; i < cells->count && cells->sums[i].kind == sum.kind; i++) {
			sum.count += cells->sums[i].count;
			sum.ns += cells->sums[i].ns;
		}
		cells->take(cells->cell, &sum, cells->user);
	}
	cells->count = 0;
	cells->cell = 0;
}

void page_cells_add(struct page_cells *cells, uint32_t cell, uint32_t kind, uint64_t ns)
{
	if (cells->count > 0 && cell != cells->cell)
		page_cells_flush(cells);
	cells->cell = cell;
	xalloc_room(&cells->sums, &cells->capacity, cells->count + 1, sizeof(*cells->sums));
	cells->sums[cells->count++] = (struct page_sum){kind, 1, ns};
}

void page_cells_finish(struct page_cells *cells)
{
	free(cells->sums);
}
