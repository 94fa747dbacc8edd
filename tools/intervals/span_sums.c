#include "tools/intervals/span_sums.h"

#include "tools/intervals/span_cells.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* A tree is made where reading entries takes more steps than this for each entry there is; it is
 * asked for items with more entries than this for each of their runs. */
enum { STEPS_TREE = 32, STEPS_RUN = 64 };

/* Samples of a key in a cell. */
struct entry {
	uint32_t cell;
	uint32_t number; /* of the key */
	uint64_t weight;
};

struct span_sums {
	struct span_cells cells;
	uint64_t *samples; /* by cell; once settled, those before it */
	uint32_t *keys;    /* by number */
	struct index_map key_map;
	struct entry *entries;
	struct index_map entry_map;
	/* The present sample. */
	const struct span_share *shares;
	size_t share_count;

	/* Once settled: the entries by cell. */
	bool is_settled;
	uint32_t entry_count;
	uint32_t *cell_entries; /* by cell: how many are before it */
	uint32_t *numbers;
	uint64_t *weights;         /* by entry: of those before it */
	struct span_tree *tree;    /* NULL: not worth it */
	uint64_t *key_weights;     /* by number, of the present item; 0 between items */
	struct span_range *ranges; /* of the present item: entries */
	size_t range_capacity;
};

TBRW_U32 span_sums_create(struct span_sums **created, struct profile_reader *reader,
			  spans_choice *choose, void *user)
{
	struct span_sums *sums = xalloc_zeroed(1, sizeof(*sums));
	TBRW_U32 code = span_cells_load(&sums->cells, reader, choose, user);
	sums->samples = xalloc_zeroed((size_t)sums->cells.count + 1, sizeof(*sums->samples));
	if (code != VT_SUCCESS) {
		span_sums_destroy(sums);
		sums = NULL;
	}
	*created = sums;
	return code;
}

void span_sums_destroy(struct span_sums *sums)
{
	if (!sums)
		return;
	span_cells_finish(&sums->cells);
	index_map_finish(&sums->key_map);
	index_map_finish(&sums->entry_map);
	span_tree_destroy(sums->tree);
	free(sums->samples);
	free(sums->keys);
	free(sums->entries);
	free(sums->cell_entries);
	free(sums->numbers);
	free(sums->weights);
	free(sums->key_weights);
	free(sums->ranges);
	free(sums);
}

bool span_sums_is_empty(const struct span_sums *sums)
{
	return sums->cells.count == 0;
}

static bool is_same_key(const void *item, const void *wanted)
{
	return *(const uint32_t *)item == *(const uint32_t *)wanted;
}

static bool is_same_entry(const void *item, const void *wanted)
{
	const struct entry *entry = item, *other = wanted;
	return entry->cell == other->cell && entry->number == other->number;
}

static void add_to_cell(uint32_t cell, void *user)
{
	struct span_sums *sums = user;
	sums->samples[cell]++;
	for (size_t i = 0; i < sums->share_count; i++) {
		const struct span_share *share = &sums->shares[i];
		if (share->weight == 0)
			continue;
		uint64_t hash = index_map_hash(&sums->key_map, &share->key, sizeof(share->key));
		struct entry entry = {.cell = cell,
				      .number = index_map_enter(&sums->key_map, &sums->keys,
								&share->key, sizeof(share->key),
								hash, is_same_key)};
		const uint32_t place[] = {entry.cell, entry.number};
		hash = index_map_hash(&sums->entry_map, place, sizeof(place));
		uint32_t at = index_map_enter(&sums->entry_map, &sums->entries, &entry,
					      sizeof(entry), hash, is_same_entry);
		sums->entries[at].weight += share->weight;
	}
}

void span_sums_add(struct span_sums *sums, uint32_t pid, uint32_t tid, uint64_t tsc,
		   const struct span_share *shares, size_t count)
{
	sums->shares = shares;
	sums->share_count = count;
	span_cells_at(&sums->cells, pid, tid, tsc, add_to_cell, sums);
}

static void order_entries(struct span_sums *sums)
{
	uint32_t count = sums->entry_count = index_map_count(&sums->entry_map);
	sums->cell_entries =
		xalloc_zeroed((size_t)sums->cells.count + 1, sizeof(*sums->cell_entries));
	sums->numbers = xalloc_zeroed(count, sizeof(*sums->numbers));
	sums->weights = xalloc_zeroed((size_t)count + 1, sizeof(*sums->weights));
	for (uint32_t i = 0; i < count; i++)
		sums->cell_entries[sums->entries[i].cell]++;
	for (uint32_t i = 0, before = 0; i <= sums->cells.count; i++) {
		uint32_t here = sums->cell_entries[i];
		sums->cell_entries[i] = before;
		before += here;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = sums->cell_entries[sums->entries[i].cell]++;
		sums->numbers[at] = sums->entries[i].number;
		sums->weights[at + 1] = sums->entries[i].weight;
	}
	/* Each cell's number is now that of the one behind it. */
	memmove(sums->cell_entries + 1, sums->cell_entries,
		sums->cells.count * sizeof(*sums->cell_entries));
	sums->cell_entries[0] = 0;
	for (uint32_t i = 0; i < count; i++)
		sums->weights[i + 1] += sums->weights[i];
}

/* Whether items have far more entries than there are. */
static bool is_tree_worth(const struct span_sums *sums)
{
	const struct span_cells *cells = &sums->cells;
	uint64_t steps = 0;
	for (size_t i = 0; i < cells->item_runs[cells->item_count]; i++)
		steps += sums->cell_entries[cells->runs[i].end] -
			 sums->cell_entries[cells->runs[i].first];
	return steps / STEPS_TREE > sums->entry_count;
}

static void settle(struct span_sums *sums)
{
	uint64_t before = 0;
	for (uint32_t i = 0; i <= sums->cells.count; i++) {
		uint64_t here = sums->samples[i];
		sums->samples[i] = before;
		before += here;
	}
	order_entries(sums);
	index_map_finish(&sums->entry_map);
	free(sums->entries);
	sums->entries = NULL;
	uint32_t key_count = index_map_count(&sums->key_map);
	sums->key_weights = xalloc_zeroed(key_count, sizeof(*sums->key_weights));
	if (is_tree_worth(sums))
		sums->tree = span_tree_create(sums->keys, key_count, sums->numbers, sums->weights,
					      sums->entry_count);
	sums->is_settled = true;
}

static void read_entries(struct span_sums *sums, size_t range_count, struct span_top *top)
{
	*top = (struct span_top){.count = 0};
	for (size_t i = 0; i < range_count; i++)
		for (uint32_t at = sums->ranges[i].first; at < sums->ranges[i].end; at++)
			sums->key_weights[sums->numbers[at]] +=
				sums->weights[at + 1] - sums->weights[at];
	for (size_t i = 0; i < range_count; i++)
		for (uint32_t at = sums->ranges[i].first; at < sums->ranges[i].end; at++) {
			uint32_t number = sums->numbers[at];
			span_top_offer(top, sums->keys[number], sums->key_weights[number]);
			sums->key_weights[number] = 0;
		}
}

void span_sums_get(struct span_sums *sums, uint32_t item, struct span_sum *sum)
{
	*sum = (struct span_sum){.samples = 0};
	if (item >= sums->cells.item_count)
		return;
	if (!sums->is_settled)
		settle(sums);
	size_t first = sums->cells.item_runs[item], end = sums->cells.item_runs[item + 1];
	size_t entries = 0;
	xalloc_room(&sums->ranges, &sums->range_capacity, end - first, sizeof(*sums->ranges));
	for (size_t i = first; i < end; i++) {
		const struct span_range run = sums->cells.runs[i];
		const struct span_range range = {sums->cell_entries[run.first],
						 sums->cell_entries[run.end]};
		sum->samples += sums->samples[run.end] - sums->samples[run.first];
		sum->weight += sums->weights[range.end] - sums->weights[range.first];
		entries += range.end - range.first;
		sums->ranges[i - first] = range;
	}
	if (sums->tree && entries / STEPS_RUN > end - first)
		span_tree_find(sums->tree, sums->ranges, end - first, &sum->top);
	else
		read_entries(sums, end - first, &sum->top);
}
