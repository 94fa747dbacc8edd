#include "tools/intervals/span_cells.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

static uint32_t count_items(const struct spans *spans)
{
	uint32_t count = 0;
	for (size_t i = 0; i < spans->count; i++)
		if (spans->spans[i].item >= count)
			count = spans->spans[i].item + 1;
	return count;
}

/* Of a thread in a process, a thread, a process, or all. A sample lies in spans of one owner of
 * each kind at most. */
static unsigned kind_of(uint64_t key)
{
	return 1u << ((key >> 32 != 0) * 2 + ((uint32_t)key != 0));
}

/* Whether an item has owners of several kinds. */
static bool *find_mixed(const struct spans *spans, uint32_t item_count)
{
	unsigned *kinds = xalloc_zeroed(item_count, sizeof(*kinds));
	bool *is_mixed = xalloc_zeroed(item_count, sizeof(*is_mixed));
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->spans[i];
		unsigned *seen = &kinds[span->item];
		*seen |= kind_of(spans->owners[span->owner].key);
		is_mixed[span->item] = (*seen & (*seen - 1)) != 0;
	}
	free(kinds);
	return is_mixed;
}

static int compare_times(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static uint64_t *sort_ends(const struct span *spans, size_t count)
{
	uint64_t *ends = xalloc_zeroed(count, sizeof(*ends));
	bool is_sorted = true;
	for (size_t i = 0; i < count; i++) {
		ends[i] = spans[i].end_tsc;
		is_sorted = is_sorted && (i == 0 || ends[i] >= ends[i - 1]);
	}
	if (!is_sorted)
		qsort(ends, count, sizeof(*ends), compare_times);
	return ends;
}

/* The spans are an owner's, by their starts. */
static void add_owner(struct span_cells *cells, const struct spans_owner *owner,
		      const struct span *spans)
{
	struct spans_owner *added = &cells->owners[cells->owner_count++];
	uint64_t *ends = sort_ends(spans, owner->count);
	*added = (struct spans_owner){.key = owner->key, .first = cells->count};
	for (size_t i = 0, k = 0; k < owner->count;) {
		bool is_start = i < owner->count && spans[i].start_tsc <= ends[k];
		uint64_t border = is_start ? spans[i++].start_tsc : ends[k++];
		if (added->count > 0 && cells->borders[cells->count - 1] == border)
			continue;
		cells->borders[cells->count++] = border;
		added->count++;
	}
	free(ends);
}

/* The number of an owner's cells that begin at the moment or before. */
static size_t count_begun(const struct span_cells *cells, const struct spans_owner *owner,
			  uint64_t tsc)
{
	size_t low = 0, high = owner->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (cells->borders[owner->first + middle] <= tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct span_range cells_of(const struct span_cells *cells, const struct span *span)
{
	const struct spans_owner *owner = &cells->owners[span->owner];
	size_t first = owner->first - 1;
	return (struct span_range){(uint32_t)(first + count_begun(cells, owner, span->start_tsc)),
				   (uint32_t)(first + count_begun(cells, owner, span->end_tsc))};
}

static void add_run(struct span_cells *cells, size_t *next, uint32_t item, struct span_range run)
{
	cells->runs[next[item]++] = run;
}

/* Runs by item, of a span each; a mixed item has one. */
static void make_runs(struct span_cells *cells, const struct spans *spans, const bool *is_mixed)
{
	size_t *next = xalloc_zeroed(cells->item_count, sizeof(*next));
	cells->item_runs = xalloc_zeroed((size_t)cells->item_count + 1, sizeof(size_t));
	for (size_t i = 0; i < spans->count; i++)
		next[spans->spans[i].item]++;
	for (uint32_t i = 0; i < cells->item_count; i++) {
		size_t count = is_mixed[i] ? 1 : next[i];
		next[i] = cells->item_runs[i];
		cells->item_runs[i + 1] = next[i] + count;
	}
	cells->runs = xalloc_zeroed(cells->item_runs[cells->item_count], sizeof(*cells->runs));
	for (size_t i = 0; i < spans->count; i++)
		add_run(cells, next, spans->spans[i].item, cells_of(cells, &spans->spans[i]));
	for (uint32_t i = 0; i < cells->item_count; i++) {
		uint32_t cell = cells->mixed_first + i;
		if (is_mixed[i])
			add_run(cells, next, i, (struct span_range){cell, cell + 1});
	}
	free(next);
}

/* Each run covers its cells; a cell may be of thousands of runs. */
static void cover_cells(struct span_cells *cells)
{
	size_t run_count = cells->item_runs[cells->item_count];
	uint32_t *begun = xalloc_zeroed((size_t)cells->count + 1, sizeof(*begun)), open = 0;
	for (size_t i = 0; i < run_count; i++) {
		begun[cells->runs[i].first]++;
		begun[cells->runs[i].end]--;
	}
	cells->is_covered = xalloc_zeroed(cells->count, sizeof(*cells->is_covered));
	for (uint32_t i = 0; i < cells->count; i++)
		cells->is_covered[i] = (open += begun[i]) > 0;
	free(begun);
}

static void make_cells(struct span_cells *cells, struct spans *spans)
{
	cells->item_count = count_items(spans);
	bool *is_mixed = find_mixed(spans, cells->item_count);
	spans_part(spans, is_mixed, &cells->mixed);
	cells->owners = xalloc_zeroed(spans->owner_count, sizeof(*cells->owners));
	cells->borders = xalloc_zeroed(spans->count, 2 * sizeof(*cells->borders));
	for (size_t i = 0; i < spans->owner_count; i++)
		add_owner(cells, &spans->owners[i], spans->spans + spans->owners[i].first);
	cells->mixed_first = cells->count;
	if (cells->mixed.count > 0) {
		cells->count += cells->item_count;
		cells->seen = xalloc_zeroed(cells->item_count, sizeof(*cells->seen));
	}
	make_runs(cells, spans, is_mixed);
	cover_cells(cells);
	free(is_mixed);
}

TBRW_U32 span_cells_load(struct span_cells *cells, struct profile_reader *reader,
			 spans_choice *choose, void *user)
{
	struct spans spans;
	*cells = (struct span_cells){0};
	TBRW_U32 code = spans_load(&spans, reader, choose, user);
	if (code == VT_SUCCESS)
		make_cells(cells, &spans);
	spans_finish(&spans);
	return code;
}

void span_cells_finish(struct span_cells *cells)
{
	spans_finish(&cells->mixed);
	free(cells->owners);
	free(cells->borders);
	free(cells->is_covered);
	free(cells->seen);
	free(cells->item_runs);
	free(cells->runs);
	*cells = (struct span_cells){0};
}

struct mixed_search {
	struct span_cells *cells;
	span_cells_callback *callback;
	void *user;
};

static bool find_item(uint32_t item, void *user)
{
	struct mixed_search *search = user;
	struct span_cells *cells = search->cells;
	if (cells->seen[item] != cells->sample) {
		cells->seen[item] = cells->sample;
		search->callback(cells->mixed_first + item, search->user);
	}
	return true;
}

void span_cells_at(struct span_cells *cells, uint32_t pid, uint32_t tid, uint64_t tsc,
		   span_cells_callback *callback, void *user)
{
	uint64_t keys[SPANS_KEYS];
	size_t key_count = spans_keys_of(pid, tid, keys);
	for (size_t i = 0; i < key_count; i++) {
		const struct spans_owner *owner =
			spans_find_owner(cells->owners, cells->owner_count, keys[i]);
		size_t begun = owner ? count_begun(cells, owner, tsc) : 0;
		if (begun > 0 && cells->is_covered[owner->first + begun - 1])
			callback((uint32_t)(owner->first + begun - 1), user);
	}
	struct mixed_search search = {cells, callback, user};
	cells->sample++;
	if (cells->mixed.count > 0)
		spans_at(&cells->mixed, pid, tid, tsc, find_item, &search);
}
