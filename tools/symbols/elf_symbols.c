#include "tools/symbols/elf_symbols.h"
#include "tools/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* The best symbol so far for an address. names point into the image. */
struct candidate {
	const char *name;
	uint64_t start;
	uint64_t size;
	int binding_rank;
};

/* The nearest symbol at or below an address, whatever its size. */
struct nearest {
	const char *name; /* NULL when the symbol has a size: it ended before the address */
	uint64_t start;
	GElf_Word section;
	bool is_set;
};

struct search {
	struct symbol_image *image;
	struct symbol_address *addresses;
	size_t count;
	struct candidate *candidates;
	struct nearest *nearest; /* [i]: among symbols between addresses i-1 and i */
};

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

static bool is_code_symbol(const GElf_Sym *symbol, GElf_Word section, const char *name)
{
	/* $x, $d: mapping symbols of the ARM ABIs; .L: labels some assemblers leave behind */
	if (section == SHN_UNDEF || section == SHN_ABS || !name || name[0] == '\0' ||
	    name[0] == '$' || strncmp(name, ".L", 2) == 0)
		return false;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_NOTYPE:
		return true;
	default:
		return false;
	}
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

static void consider(struct search *search, const GElf_Sym *symbol, uint64_t start,
		     GElf_Word section, const char *name)
{
	size_t first = symbol_addresses_from(search->addresses, search->count, start);
	if (first == search->count)
		return;
	struct nearest *nearest = &search->nearest[first];
	if (!nearest->is_set || start >= nearest->start) {
		/* At one start, a symbol with a size says more than one without. */
		bool keeps = nearest->is_set && start == nearest->start && !nearest->name;
		if (!keeps)
			*nearest = (struct nearest){symbol->st_size ? NULL : name, start, section,
						    true};
	}
	struct candidate candidate = {name, start, symbol->st_size, binding_rank(symbol)};
	for (size_t i = first; i < search->count; i++) {
		if (search->addresses[i].rva - start >= symbol->st_size)
			break;
		if (is_better(&candidate, &search->candidates[i]))
			search->candidates[i] = candidate;
	}
}

static void pass_over_symbols(struct search *search)
{
	int count = dwfl_module_getsymtab(search->image->module);
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section = SHN_UNDEF;
		const char *name = dwfl_module_getsym_info(search->image->module, i, &symbol,
							   &address, &section, NULL, NULL);
		if (is_code_symbol(&symbol, section, name))
			consider(search, &symbol, address, section, name);
	}
}

/* True where both lie in one executable section of the file. */
static bool is_same_section(const struct symbol_image *image, uint64_t start, uint64_t rva)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		if (start >= header.sh_addr && start - header.sh_addr < header.sh_size)
			return rva - header.sh_addr < header.sh_size;
	}
	return false;
}

static void set_function(struct symbol_entry *function, const struct candidate *candidate)
{
	/* name@VERSION and name@@VERSION: the version is not part of the name */
	size_t length = strcspn(candidate->name, "@");
	function->name = xalloc_text_of(candidate->name, length ? length : strlen(candidate->name));
	function->start = candidate->start;
	function->size = candidate->size;
}

void elf_symbols_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count)
{
	struct search search = {
		.image = image,
		.addresses = addresses,
		.count = count,
		.candidates = xalloc_zeroed(count, sizeof(*search.candidates)),
		.nearest = xalloc_zeroed(count, sizeof(*search.nearest)),
	};
	pass_over_symbols(&search);
	struct nearest nearest = {0};
	for (size_t i = 0; i < count; i++) {
		if (search.nearest[i].is_set)
			nearest = search.nearest[i];
		struct candidate *candidate = &search.candidates[i];
		if (!candidate->name && nearest.name &&
		    is_same_section(image, nearest.start, addresses[i].rva)) {
			candidate->name = nearest.name;
			candidate->start = nearest.start;
		}
		if (candidate->name && !addresses[i].function.name)
			set_function(&addresses[i].function, candidate);
	}
	free(search.candidates);
	free(search.nearest);
}
