#include "tools/symbols/resolve.h"

#include "tools/symbols/cold_part.h"
#include "tools/symbols/dwarf_inlines.h"
#include "tools/symbols/eh_frame.h"
#include "tools/symbols/elf_symbols.h"
#include "tools/symbols/go_symbols.h"
#include "tools/symbols/plt.h"
#include "tools/symbols/sigreturn.h"
#include <assert.h>

void resolve_in_file(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	assert(symbol_addresses_are_sorted(addresses, count));
	elf_symbols_resolve(file, addresses, count);
	cold_part_resolve(file, addresses, count);
	plt_resolve(file, addresses, count);
	sigreturn_resolve(file, addresses, count);
	eh_frame_resolve(file, addresses, count);
	dwarf_inlines_resolve(file, addresses, count);
	go_symbols_resolve(file, addresses, count);
	for (size_t i = 0; i < count; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (function->name || function->is_pseudo)
			continue;
		function->start = addresses[i].rva;
		function->is_pseudo = true;
	}
}

enum symbol_file_status resolve_open(struct symbol_file *file, const struct mapped_file *mapped,
				     const char *debug_path)
{
	return mapped->path[0] == '[' ? symbol_file_open_vdso(file, mapped)
				      : symbol_file_open(file, mapped, debug_path);
}

enum symbol_file_status resolve_file(const struct mapped_file *mapped, const char *debug_path,
				     struct symbol_address *addresses, size_t count)
{
	struct symbol_file file;
	enum symbol_file_status status = resolve_open(&file, mapped, debug_path);
	if (status == SYMBOL_FILE_OPEN)
		resolve_in_file(&file, addresses, count);
	symbol_file_close(&file);
	return status;
}

static void complete_range(struct eh_frame_table *table, struct code_range *range)
{
	uint64_t start;
	uint64_t size;
	if (range->size == 0 && eh_frame_find(table, range->start, &start, &size) &&
	    range->start - start < size)
		*range = (struct code_range){start, size};
}

void resolve_code_ranges(struct symbol_file *file, struct code_range *ranges, size_t count)
{
	struct eh_frame_table table = {.file = file};
	for (size_t i = 0; i < count; i++)
		complete_range(&table, &ranges[i]);
	eh_frame_close(&table);
}

enum symbol_file_status resolve_file_data(const struct mapped_file *mapped, const char *debug_path,
					  struct symbol_address *addresses, size_t count)
{
	struct symbol_file file;
	enum symbol_file_status status = resolve_open(&file, mapped, debug_path);
	assert(symbol_addresses_are_sorted(addresses, count));
	if (status == SYMBOL_FILE_OPEN)
		elf_symbols_resolve_data(&file, addresses, count);
	symbol_file_close(&file);
	return status;
}
