#include "unwind/rows.h"

#include <stdlib.h>

enum { LOG_TABLES = 7 };

struct uw_rows {
	struct uw_module *module; /* a reference, so that code identifies the FDE; NULL: unused */
	const uint8_t *code;      /* the FDE's instructions */
	uint32_t count;           /* 0: there is no table for this FDE */
	struct uw_quick_row *rows;
};

void uw_rows_clear(struct uw_rule_cache *cache)
{
	if (!cache->tables)
		return;
	for (size_t i = 0; i < (size_t)1 << LOG_TABLES; i++) {
		uw_module_unref(cache->tables[i].module);
		free(cache->tables[i].rows);
	}
	free(cache->tables);
	cache->tables = NULL;
	cache->table_bytes = 0;
}

static void rows_drop(struct uw_rule_cache *cache, struct uw_rows *table)
{
	cache->table_bytes -= table->count * sizeof(table->rows[0]);
	uw_module_unref(table->module);
	free(table->rows);
	*table = (struct uw_rows){0};
}

static void rows_build(struct uw_rule_cache *cache, const struct uw_fde *fde, struct uw_rows *table)
{
	/* Every row but the first takes an instruction. */
	size_t room = uw_reader_left(&fde->code) + 1;
	struct uw_quick_row *rows;
	size_t count;

	if (room * sizeof(*rows) > UW_ROWS_BYTES_MAX - cache->table_bytes)
		return;
	rows = calloc(room, sizeof(*rows));
	if (!rows)
		return;
	count = uw_cfi_quick_rows(fde, rows, room);
	table->rows = reallocarray(rows, count ? count : 1, sizeof(*rows));
	if (!table->rows)
		table->rows = rows;
	table->count = (uint32_t)count;
	cache->table_bytes += count * sizeof(*rows);
}

bool uw_rows_find(struct uw_rule_cache *cache, struct uw_module *module, const struct uw_fde *fde,
		  uint64_t rva, struct uw_quick *row)
{
	struct uw_rows *table;
	size_t low = 0, high;

	if (!cache->tables)
		cache->tables = calloc((size_t)1 << LOG_TABLES, sizeof(*cache->tables));
	if (!cache->tables)
		return false;
	table = &cache->tables[uw_cache_index((uintptr_t)fde->code.at, false, LOG_TABLES)];
	if (table->module != module || table->code != fde->code.at) {
		rows_drop(cache, table);
		table->code = fde->code.at;
		table->module = uw_module_ref(module);
		rows_build(cache, fde, table);
	}
	/* The last row that starts at or before rva. */
	for (high = table->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].offset <= rva - fde->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !table->rows[low - 1].rules.has_cfa || !table->rows[low - 1].rules.has_ra)
		return false;
	*row = table->rows[low - 1].rules;
	return true;
}
