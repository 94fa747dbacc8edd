#include "unwind/rows.h"

#include "unwind/module.h"

#include <stdlib.h>

enum { LOG_TABLES = 10 };

struct uw_rows {
	struct uw_module *module; /* a reference; NULL: unused */
	uint64_t start, end;      /* of the function */
	struct uw_quick_row *rows;
	uint32_t entry; /* in the module's search table */
	uint32_t count; /* 0: the function has no table */
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

static void rows_fill(struct uw_rule_cache *cache, const struct uw_fde *fde, struct uw_rows *table)
{
	/* Every row but the first takes an instruction. */
	size_t room = uw_reader_left(&fde->code) + 1;
	struct uw_quick_row *rows, *fitting;

	if (fde->signal || room > (UW_ROWS_BYTES_MAX - cache->table_bytes) / sizeof(*rows))
		return;
	rows = calloc(room, sizeof(*rows));
	if (!rows)
		return;
	table->count = (uint32_t)uw_cfi_quick_rows(fde, rows, room);
	fitting = reallocarray(rows, table->count ? table->count : 1, sizeof(*rows));
	table->rows = fitting ? fitting : rows;
	table->start = fde->start;
	table->end = fde->end;
	cache->table_bytes += table->count * sizeof(*rows);
}

/* Takes the table's place for another function. */
static void rows_build(struct uw_rule_cache *cache, struct uw_module *module, size_t entry,
		       uint64_t rva, struct uw_rows *table)
{
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	rows_drop(cache, table);
	table->module = uw_module_ref(module);
	table->entry = (uint32_t)entry;
	if (uw_cfi_find(&module->cfi, rva, &fde, &gap) == UW_CFI_OK)
		rows_fill(cache, &fde, table);
}

/* The last row that starts at or before offset; the first one is at 0. */
static const struct uw_quick_row *rows_search(const struct uw_rows *table, uint64_t offset)
{
	const struct uw_quick_row *row = table->rows;
	size_t count = table->count;

	/* Without a branch on the outcome, which nothing predicts. */
	while (count > 1) {
		size_t half = count / 2;

		row = row[half].offset <= offset ? row + half : row;
		count -= half;
	}
	return row;
}

bool uw_rows_find(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva,
		  struct uw_found_row *found)
{
	const struct uw_quick_row *row;
	struct uw_rows *table;
	size_t entry;

	if (!cache->tables)
		cache->tables = calloc((size_t)1 << LOG_TABLES, sizeof(*cache->tables));
	if (!cache->tables || !uw_cfi_entry(&module->cfi, rva, &entry) || entry > UINT32_MAX)
		return false;
	table = &cache->tables[uw_cache_index((uintptr_t)module + entry, false, LOG_TABLES)];
	if (table->module != module || table->entry != entry)
		rows_build(cache, module, entry, rva, table);
	if (table->count == 0 || rva < table->start || rva >= table->end)
		return false;
	row = rows_search(table, rva - table->start);
	found->rules = row->rules;
	found->function = table->start;
	found->ends = rva + 1 == table->end;
	return row->rules.has_cfa && row->rules.has_ra;
}
