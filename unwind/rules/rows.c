#include "unwind/rules/rows.h"

#include "unwind/module/module.h"
#include "unwind/rules/quick.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/x86/stack_switch.h"
#include <stdlib.h>

enum {
	LOG_TABLES = 10,
	LOG_HINTS = 12,
	HINT_SHIFT = 6,      /* code in a block of 64 bytes is nearly always one function's */
	BYTES_PER_EFFORT = 2 /* nearly all instructions have two or three */
};

struct uw_rows {
	struct uw_module *module; /* kept (module.h); NULL: unused */
	uint64_t start, end;      /* of the function */
	uint64_t limit;           /* where the next function starts, if that is inside of it */
	struct uw_quick_row *rows;
	uint32_t entry; /* in the module's search table */
	uint32_t count; /* 0: the function has no table */
};

struct uw_functions {
	struct uw_rows tables[1 << LOG_TABLES];
	size_t bytes;                   /* of all rows */
	uint16_t hints[1 << LOG_HINTS]; /* the table that a block of code was last found in */
};

void uw_functions_destroy(struct uw_functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < (size_t)1 << LOG_TABLES; i++) {
		uw_module_drop(functions->tables[i].module);
		free(functions->tables[i].rows);
	}
	free(functions);
}

static void rows_drop(struct uw_functions *functions, struct uw_rows *table)
{
	functions->bytes -= table->count * sizeof(table->rows[0]);
	uw_module_drop(table->module);
	free(table->rows);
	*table = (struct uw_rows){0};
}

static void rows_fill(struct uw_functions *functions, const struct uw_fde *fde,
		      struct uw_rows *table)
{
	/* Every row but the first takes an instruction. */
	size_t room = uw_reader_left(&fde->code) + 1;
	struct uw_quick_row *rows;

	if (fde->signal ||
	    (uw_stack_may_switch(fde) && uw_stack_is_loaded(&table->module->elf, fde)) ||
	    room > (UW_ROWS_BYTES_MAX - functions->bytes) / sizeof(*rows))
		return;
	rows = calloc(room, sizeof(*rows));
	if (!rows)
		return;
	table->count = (uint32_t)uw_cfi_quick_rows(fde, rows, room);
	for (size_t i = 0; i < table->count; i++)
		uw_quick_finish(uw_machine_of(table->module->elf.arch), &rows[i].rules);
	struct uw_quick_row *fitting =
		reallocarray(rows, table->count ? table->count : 1, sizeof(*rows));
	table->rows = fitting ? fitting : rows;
	functions->bytes += table->count * sizeof(*rows);
}

/* Takes the table's place for another function. */
static void rows_build(struct uw_functions *functions, struct uw_module *module, size_t entry,
		       uint32_t *effort, struct uw_rows *table)
{
	const struct uw_cfi *cfi = &module->cfi;
	struct uw_fde fde;

	rows_drop(functions, table);
	table->module = uw_module_keep(module);
	table->entry = (uint32_t)entry;
	if (!uw_cfi_entry_read(cfi, entry, &fde))
		return;
	*effort += (uint32_t)(uw_reader_left(&fde.code) / BYTES_PER_EFFORT);
	table->start = fde.start;
	table->end = table->limit = fde.end;
	if (entry + 1 < uw_cfi_count(cfi) && uw_cfi_entry_start(cfi, entry + 1) < fde.end)
		table->limit = uw_cfi_entry_start(cfi, entry + 1);
	/* A search leads to no other FDE between the two. */
	if (uw_cfi_entry_start(cfi, entry) == fde.start && fde.start < table->limit)
		rows_fill(functions, &fde, table);
	else
		table->start = table->limit = 0;
}

static bool rows_hold(const struct uw_rows *table, const struct uw_module *module, uint64_t rva)
{
	return table->module == module && rva - table->start < table->limit - table->start;
}

/* The table of the function at rva, where it is known, or can be. */
static struct uw_rows *rows_of(struct uw_functions *functions, struct uw_module *module,
			       uint64_t rva, uint32_t *effort)
{
	uint64_t block = ((uintptr_t)module >> 4) * 0x10001 + (rva >> HINT_SHIFT);
	uint16_t *hint = &functions->hints[uw_cache_index(block, false, LOG_HINTS)];
	struct uw_rows *table = &functions->tables[*hint];
	size_t entry;

	if (rows_hold(table, module, rva))
		return table;
	if (!uw_cfi_entry(&module->cfi, rva, &entry) || entry > UINT32_MAX)
		return NULL;
	size_t index = uw_cache_index((uintptr_t)module + entry, false, LOG_TABLES);
	table = &functions->tables[index];
	if (table->module != module || table->entry != entry)
		rows_build(functions, module, entry, effort, table);
	*hint = (uint16_t)index;
	return rows_hold(table, module, rva) ? table : NULL;
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
		  uint32_t *effort, struct uw_found_row *found)
{
	if (!cache->functions)
		cache->functions = calloc(1, sizeof(*cache->functions));
	const struct uw_rows *table =
		cache->functions ? rows_of(cache->functions, module, rva, effort) : NULL;
	if (!table || table->count == 0)
		return false;
	const struct uw_quick_row *row = rows_search(table, rva - table->start);
	found->rules = row->rules;
	found->function = table->start;
	found->ends = rva + 1 == table->end;
	return row->rules.has_cfa && row->rules.has_ra;
}
