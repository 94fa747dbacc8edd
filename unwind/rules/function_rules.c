#include "unwind/rules/function_rules.h"

#include "unwind/module/module.h"
#include "unwind/rules/quick.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/x86/stack_switch.h"
#include <assert.h>
#include <stdlib.h>

enum {
	LOG_FUNCTIONS = 10,
	LOG_HINTS = 12,
	HINT_SHIFT = 6,      /* code in a block of 64 bytes is nearly always one function's */
	BYTES_PER_EFFORT = 2 /* nearly all instructions have two or three */
};

static_assert(1 << LOG_FUNCTIONS <= UINT16_MAX, "hints have 16 bits");

struct function {
	struct uw_module *module; /* kept (module.h); NULL: unused */
	uint64_t start, end;      /* of the function */
	uint64_t limit;           /* start of the next function, if inside this one */
	struct uw_rules_row *rows;
	uint32_t entry; /* in the module's search table */
	uint32_t count; /* of rows; 0: cfi/row takes over */
};

struct uw_function_rules {
	struct function items[1 << LOG_FUNCTIONS];
	size_t bytes;                   /* of all rows */
	uint16_t hints[1 << LOG_HINTS]; /* the function last found in a block of code */
};

void uw_function_rules_destroy(struct uw_function_rules *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < (size_t)1 << LOG_FUNCTIONS; i++) {
		uw_module_drop(functions->items[i].module);
		free(functions->items[i].rows);
	}
	free(functions);
}

static void drop_function(struct uw_function_rules *functions, struct function *function)
{
	assert(functions->bytes >= function->count * sizeof(function->rows[0]));
	functions->bytes -= function->count * sizeof(function->rows[0]);
	uw_module_drop(function->module);
	free(function->rows);
	*function = (struct function){0};
}

static void decode_rows(struct uw_function_rules *functions, const struct uw_fde *fde,
			struct function *function)
{
	/* Every row but the first takes an instruction. */
	size_t room = uw_cursor_left(&fde->code) + 1;
	struct uw_rules_row *rows;

	assert(functions->bytes <= UW_FUNCTION_RULES_BYTES_MAX && function->count == 0);
	if (fde->signal ||
	    (uw_stack_may_switch(fde) && uw_stack_is_loaded(&function->module->elf, fde)) ||
	    room > (UW_FUNCTION_RULES_BYTES_MAX - functions->bytes) / sizeof(*rows))
		return;
	rows = calloc(room, sizeof(*rows));
	if (!rows)
		return;
	function->count = (uint32_t)uw_quick_rows(fde, rows, room);
	for (size_t i = 0; i < function->count; i++)
		uw_rules_finish(uw_machine_of(function->module->elf.arch), &rows[i].rules);
	struct uw_rules_row *fitting =
		reallocarray(rows, function->count ? function->count : 1, sizeof(*rows));
	function->rows = fitting ? fitting : rows;
	assert(function->count <= room);
	functions->bytes += function->count * sizeof(*rows);
}

/* Gives a function's place to another one. */
static void take_function(struct uw_function_rules *functions, struct uw_module *module,
			  size_t entry, uint32_t *effort, struct function *function)
{
	const struct uw_cfi *cfi = &module->cfi;
	struct uw_fde fde;

	drop_function(functions, function);
	function->module = uw_module_keep(module);
	function->entry = (uint32_t)entry;
	if (!uw_cfi_entry_read(cfi, entry, &fde))
		return;
	*effort += (uint32_t)(uw_cursor_left(&fde.code) / BYTES_PER_EFFORT);
	function->start = fde.start;
	function->end = function->limit = fde.end;
	if (entry + 1 < uw_cfi_count(cfi) && uw_cfi_entry_start(cfi, entry + 1) < fde.end)
		function->limit = uw_cfi_entry_start(cfi, entry + 1);
	/* Between the two starts a search finds no other FDE. */
	if (uw_cfi_entry_start(cfi, entry) == fde.start && fde.start < function->limit)
		decode_rows(functions, &fde, function);
	else
		function->start = function->limit = 0;
}

static bool function_holds(const struct function *function, const struct uw_module *module,
			   uint64_t rva)
{
	return function->module == module &&
	       rva - function->start < function->limit - function->start;
}

/* The function at rva, decoded now if new; NULL: not to be had. */
static struct function *find_function(struct uw_function_rules *functions, struct uw_module *module,
				      uint64_t rva, uint32_t *effort)
{
	uint64_t block = ((uintptr_t)module >> 4) * 0x10001 + (rva >> HINT_SHIFT);
	uint16_t *hint = &functions->hints[uw_cache_index(block, false, LOG_HINTS)];
	struct function *function = &functions->items[*hint];
	size_t entry;

	if (function_holds(function, module, rva))
		return function;
	if (!uw_cfi_entry(&module->cfi, rva, &entry) || entry > UINT32_MAX)
		return NULL;
	size_t index = uw_cache_index((uintptr_t)module + entry, false, LOG_FUNCTIONS);
	function = &functions->items[index];
	if (function->module != module || function->entry != entry)
		take_function(functions, module, entry, effort, function);
	*hint = (uint16_t)index;
	return function_holds(function, module, rva) ? function : NULL;
}

/* The last row that starts at or before offset. */
static const struct uw_rules_row *search_rows(const struct function *function, uint64_t offset)
{
	const struct uw_rules_row *row = function->rows;
	size_t count = function->count;

	assert(count > 0 && row->offset == 0);
	/* Without a branch on the outcome: no CPU predicts it. */
	while (count > 1) {
		size_t half = count / 2;

		row = row[half].offset <= offset ? row + half : row;
		count -= half;
	}
	return row;
}

bool uw_function_rules_find(struct uw_rule_cache *cache, struct uw_module *module, uint64_t rva,
			    uint32_t *effort, struct uw_found_rules *found)
{
	if (!cache->functions)
		cache->functions = calloc(1, sizeof(*cache->functions));
	const struct function *function =
		cache->functions ? find_function(cache->functions, module, rva, effort) : NULL;
	if (!function || function->count == 0)
		return false;
	const struct uw_rules_row *row = search_rows(function, rva - function->start);
	found->rules = row->rules;
	found->function = function->start;
	found->ends = rva + 1 == function->end;
	return row->rules.has_cfa && row->rules.has_ra;
}
