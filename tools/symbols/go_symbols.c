#include "tools/symbols/go_symbols.h"

#include "tools/memory/xalloc.h"
#include "unwind/go/source.h"
#include <stdlib.h>

struct go_file {
	struct uw_elf elf;
	struct uw_go go;
	uint64_t data_start;
};

static void set_place(struct symbol_entry *entry, const struct uw_go_call *call)
{
	entry->file = call->file ? xalloc_text(call->file) : NULL;
	entry->line = call->line;
}

static void set_function(struct symbol_entry *entry, const char *name,
			 const struct uw_go_function *function)
{
	if (entry->name || !name)
		return;
	entry->name = xalloc_text(name);
	entry->start = function->start;
	entry->size = function->end - function->start;
	entry->is_pseudo = false;
}

static void resolve_address(const struct go_file *file, struct symbol_address *address)
{
	struct uw_go_call calls[UW_GO_CALLS_MAX];
	struct uw_go_function function;

	if (!uw_go_find(&file->go, address->rva, &function))
		return;
	size_t count = uw_go_calls(&file->go, &file->elf, file->data_start, &function, address->rva,
				   calls);
	set_function(&address->function, calls[count - 1].name, &function);
	if (address->inlined_count > 0 || address->function.file)
		return;
	set_place(&address->function, &calls[count - 1]);
	for (size_t i = count - 1; i-- > 0;) {
		struct symbol_entry entry = {.name = xalloc_text(calls[i].name),
					     .start = address->function.start};
		set_place(&entry, &calls[i]);
		symbol_address_add_inlined(address, &entry);
	}
}

void go_symbols_resolve(struct symbol_file *symbols, struct symbol_address *addresses, size_t count)
{
	struct go_file file = {.data_start = 0};
	size_t size = 0;
	const char *image = elf_rawfile(symbols->elf, &size);

	if (!image || uw_elf_borrow(&file.elf, image, size) < 0)
		return;
	uw_elf_take_sections(&file.elf);
	if (uw_go_open_any(&file.go, &file.elf) == 0 && file.go.span.size > 0) {
		file.data_start = uw_go_data_start(&file.go, &file.elf);
		for (size_t i = 0; i < count; i++)
			resolve_address(&file, &addresses[i]);
	}
	uw_go_finish(&file.go);
	uw_elf_finish(&file.elf);
}
