#include "tools/symbols/elf_symbols.h"

#include "tools/memory/xalloc.h"
#include "tools/symbols/eh_frame.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The best symbol so far for an address. names point into the file. */
struct candidate {
	const char *name;
	uint64_t start;
	uint64_t size;
	int class_rank;
	int binding_rank;
};

struct symbol_search {
	struct symbol_file *file;
	struct symbol_address *addresses;
	size_t count;
	struct candidate *candidates; /* [i]: the best symbol whose size covers addresses[i] */
	struct candidate *nearest;    /* [i]: the last to start between addresses i-1 and i */
	struct eh_frame_table table;
	uint64_t reach; /* of a symbol without a size */
	/* STT_ types */
	bool (*takes_type)(int type);
};

/* An assembler's label has no type, and an alias for the library's own use is hidden. */
static int class_rank(const GElf_Sym *symbol)
{
	int visibility = GELF_ST_VISIBILITY(symbol->st_other);
	bool is_hidden = visibility == STV_HIDDEN || visibility == STV_INTERNAL;
	return (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 2 : 0) + (is_hidden ? 1 : 0);
}

static int binding_rank(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static bool is_code_type(int type)
{
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Labels without a type mark places, as __bss_start; those of TLS are offsets. */
static bool is_data_type(int type)
{
	return type == STT_OBJECT || type == STT_COMMON;
}

static bool is_name(GElf_Word section, const char *name)
{
	/* $x, $d: mapping symbols of the ARM ABIs; .L: labels some assemblers leave behind */
	return section != SHN_UNDEF && section != SHN_ABS && name && name[0] != '\0' &&
	       name[0] != '$' && strncmp(name, ".L", 2) != 0;
}

static size_t leading_underscores(const char *name)
{
	/* A mangled name's underscore is no ornament. */
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ? 0 : strspn(name, "_");
}

static bool is_better(const struct candidate *fresh, const struct candidate *old)
{
	if (!old->name)
		return true;
	if (fresh->start != old->start)
		return fresh->start > old->start;
	if (fresh->class_rank != old->class_rank)
		return fresh->class_rank < old->class_rank;
	size_t new_ornament = leading_underscores(fresh->name);
	size_t old_ornament = leading_underscores(old->name);
	if (new_ornament != old_ornament)
		return new_ornament < old_ornament;
	if (fresh->binding_rank != old->binding_rank)
		return fresh->binding_rank < old->binding_rank;
	size_t new_length = strlen(fresh->name);
	size_t old_length = strlen(old->name);
	if (new_length != old_length)
		return new_length < old_length;
	return strcmp(fresh->name, old->name) < 0;
}

/* Whether fresh says more than old about the code from its start on. */
static bool is_nearer(const struct candidate *fresh, const struct candidate *old)
{
	if (old->name && fresh->start == old->start && !fresh->size != !old->size)
		return fresh->size != 0;
	return is_better(fresh, old);
}

static void consider_symbol(struct symbol_search *search, const struct candidate *candidate)
{
	size_t first = symbol_addresses_from(search->addresses, search->count, candidate->start);
	if (first == search->count)
		return;
	if (is_nearer(candidate, &search->nearest[first]))
		search->nearest[first] = *candidate;
	for (size_t i = first; i < search->count; i++) {
		if (search->addresses[i].rva - candidate->start >= candidate->size)
			break;
		if (is_better(candidate, &search->candidates[i]))
			search->candidates[i] = *candidate;
	}
}

static void pass_over_symbols(struct symbol_search *search)
{
	int count = dwfl_module_getsymtab(search->file->module);
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section = SHN_UNDEF;
		const char *name = dwfl_module_getsym_info(search->file->module, i, &symbol,
							   &address, &section, NULL, NULL);
		if (!is_name(section, name) || !search->takes_type(GELF_ST_TYPE(symbol.st_info)))
			continue;
		consider_symbol(search,
				&(struct candidate){name, address, symbol.st_size,
						    class_rank(&symbol), binding_rank(&symbol)});
		if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
			search->reach = ELF_SYMBOLS_REACH;
	}
}

/* Whether both lie in one executable section of the file. */
static bool is_same_section(const struct symbol_file *file, uint64_t start, uint64_t rva)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		if (start >= header.sh_addr && start - header.sh_addr < header.sh_size)
			return rva - header.sh_addr < header.sh_size;
	}
	return false;
}

/* Whether nearest, the last symbol before rva and without a size, reaches rva. An FDE with the same
 * start gives the symbol its size. */
static bool reaches(struct symbol_search *search, struct candidate *nearest, uint64_t rva)
{
	uint64_t start;
	uint64_t size;
	if (!is_same_section(search->file, nearest->start, rva))
		return false;
	if (!eh_frame_find(&search->table, rva, &start, &size) || start + size <= nearest->start)
		return rva - nearest->start < search->reach;
	if (start > nearest->start)
		return false;
	if (start == nearest->start)
		nearest->size = size;
	return rva - start < size;
}

static void set_function(struct symbol_entry *function, const struct candidate *candidate)
{
	/* name@VERSION and name@@VERSION: the version is not part of the name */
	size_t length = strcspn(candidate->name, "@");
	function->name = xalloc_text_of(candidate->name, length ? length : strlen(candidate->name));
	function->start = candidate->start;
	function->size = candidate->size;
}

static void choose_functions(struct symbol_search *search)
{
	struct candidate nearest = {0};
	for (size_t i = 0; i < search->count; i++) {
		struct symbol_address *address = &search->addresses[i];
		if (search->nearest[i].name)
			nearest = search->nearest[i];
		struct candidate *found = &search->candidates[i];
		struct candidate last = nearest;
		if (!found->name && last.name && last.size == 0 &&
		    reaches(search, &last, address->rva))
			*found = last;
		if (found->name && !address->function.name)
			set_function(&address->function, found);
	}
}

static void resolve_types(struct symbol_file *file, struct symbol_address *addresses, size_t count,
			  bool (*takes_type)(int type))
{
	struct symbol_search search = {
		.file = file,
		.addresses = addresses,
		.count = count,
		.candidates = xalloc_zeroed(count, sizeof(*search.candidates)),
		.nearest = xalloc_zeroed(count, sizeof(*search.nearest)),
		.table = {.file = file},
		.reach = ELF_SYMBOLS_REACH_STRIPPED,
		.takes_type = takes_type,
	};
	pass_over_symbols(&search);
	choose_functions(&search);
	eh_frame_close(&search.table);
	free(search.candidates);
	free(search.nearest);
}

void elf_symbols_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	resolve_types(file, addresses, count, is_code_type);
}

void elf_symbols_resolve_data(struct symbol_file *file, struct symbol_address *addresses,
			      size_t count)
{
	resolve_types(file, addresses, count, is_data_type);
}
