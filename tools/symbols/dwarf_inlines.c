#include "tools/symbols/dwarf_inlines.h"

#include "containers/compare.h"
#include "tools/debuginfo/split_units.h"
#include "tools/memory/xalloc.h"
#include "tools/names/cold_name.h"
#include "tools/names/demangle.h"
#include "tools/symbols/dwarf_names.h"
#include "tools/text/path.h"
#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>

/* A damaged file can nest without end or lead in circles. */
#define LEVELS_MAX  128u
#define INLINES_MAX 64u
#define STEPS_MAX   (50u * 1000u * 1000u)
/* Of the search that reads all of a unit, counted apart to leave the others their steps. */
#define NESTED_STEPS_MAX (20u * 1000u * 1000u)

/* DW_LANG_ codes newer than DWARF 5. */
#define LANGUAGE_ADA_2005 0x2e
#define LANGUAGE_ADA_2012 0x2f

struct walk {
	struct symbol_address *addresses;
	bool *is_found;      /* [i]: a function's entry holds addresses[i] */
	size_t *list_of;     /* [i]: the last list of members that took addresses[i] */
	size_t lists;        /* number of lists made */
	Dwarf_Addr bias;     /* rva = address in DWARF + bias */
	uint64_t first_code; /* rva of the file's first instruction */
	Dwarf_Files *files;
	const char *directory; /* of the unit's compilation, for its relative names; NULL: none */
	bool is_ada;           /* the unit */
	struct dwarf_names names;
	struct split_units splits;
	const char *path; /* of the file with the skeletons */
	size_t steps;
	size_t nested_steps;
};

/* Addresses of interest, as ascending indices into walk->addresses, each once. */
struct members {
	size_t *indices;
	size_t count;
};

static bool has_steps(struct walk *walk)
{
	return walk->steps++ < STEPS_MAX;
}

static size_t members_from(const struct walk *walk, const struct members *members, uint64_t rva)
{
	size_t low = 0;
	size_t high = members->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (walk->addresses[members->indices[middle]].rva < rva)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_indices(const void *a, const void *b)
{
	const size_t *left = a;
	const size_t *right = b;
	return compare_numbers(*left, *right);
}

/* Adds the members in [low, high) that no earlier range of the entry held. */
static void add_range(struct walk *walk, const struct members *members, uint64_t low, uint64_t high,
		      struct members *inside)
{
	for (size_t i = members_from(walk, members, low); i < members->count; i++) {
		size_t index = members->indices[i];
		if (walk->addresses[index].rva >= high || !has_steps(walk))
			break;
		if (walk->list_of[index] == walk->lists)
			continue;
		walk->list_of[index] = walk->lists;
		if (!inside->indices)
			inside->indices = xalloc_zeroed(members->count, sizeof(*inside->indices));
		assert(inside->count < members->count); /* each once */
		inside->indices[inside->count++] = index;
	}
}

/* The members inside the entry's address ranges. The caller frees the indices. */
static struct members members_inside(struct walk *walk, Dwarf_Die *die,
				     const struct members *members)
{
	struct members inside = {0};
	Dwarf_Addr base;
	Dwarf_Addr low;
	Dwarf_Addr high;
	walk->lists++;
	for (ptrdiff_t next = 0;
	     has_steps(walk) && (next = dwarf_ranges(die, next, &base, &low, &high)) > 0;) {
		/* Functions left out by the linker keep their entries, at address 0 or 1. */
		if (low + walk->bias >= walk->first_code)
			add_range(walk, members, low + walk->bias, high + walk->bias, &inside);
	}
	/* Ranges come in the order of sections in the object file, cold parts first or last. */
	if (inside.count > 1)
		qsort(inside.indices, inside.count, sizeof(*inside.indices), compare_indices);
	return inside;
}

/* Ada's names look like C's: only the language of the unit tells them apart. */
static void spell_ada(const struct walk *walk, struct symbol_entry *entry)
{
	char *name = walk->is_ada && entry->name ? demangle_ada_name(entry->name) : NULL;
	if (!name)
		return;
	free(entry->name);
	entry->name = name;
}

/* The rva of the start of the entry's code (DWARF 5 section 2.18); otherwise: if there is none. */
static uint64_t start_of(const struct walk *walk, Dwarf_Die *die, uint64_t otherwise)
{
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	if (dwarf_entrypc(die, &start) != 0 && dwarf_ranges(die, 0, &base, &start, &end) <= 0)
		return otherwise;
	return start + walk->bias;
}

/* A function's entry has the ranges of its cold part too: the part gets the function's start. */
static void join_cold_part(struct walk *walk, Dwarf_Die *die, struct symbol_entry *function)
{
	uint64_t start = start_of(walk, die, function->start);
	if (start == function->start || !function->name[cold_name_owner_length(function->name)])
		return;
	function->start = start;
	function->size = 0;
}

static void set_function(struct walk *walk, Dwarf_Die *die, struct symbol_entry *function)
{
	const char *name = function->name ? NULL : dwarf_names_of(&walk->names, die);
	if (function->name)
		join_cold_part(walk, die, function);
	if (!name)
		return;
	function->name = xalloc_text(name);
	function->start = start_of(walk, die, function->start);
	function->is_pseudo = false;
}

/* DW_AT_call_file and DW_AT_call_line lie in the calling function. */
static void add_inlined(struct walk *walk, Dwarf_Die *die, struct symbol_address *address)
{
	const char *name = dwarf_names_of(&walk->names, die);
	if (!name || address->inlined_count >= INLINES_MAX)
		return;
	struct symbol_entry *caller = symbol_address_innermost(address);
	Dwarf_Attribute memory;
	Dwarf_Word value;
	if (walk->files &&
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &memory), &value) == 0) {
		const char *file = dwarf_filesrc(walk->files, value, NULL, NULL);
		free(caller->file);
		caller->file = file ? path_join(walk->directory, file) : NULL;
	}
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &memory), &value) == 0)
		caller->line = value <= UINT32_MAX ? (uint32_t)value : 0;

	struct symbol_entry entry = {.name = xalloc_text(name),
				     .start = start_of(walk, die, caller->start)};
	spell_ada(walk, &entry);
	symbol_address_add_inlined(address, &entry);
}

/* An address is in one function: entries of code left out by the linker may overlap others. */
static void keep_first_found(struct walk *walk, struct members *members)
{
	size_t kept = 0;
	for (size_t i = 0; i < members->count; i++) {
		size_t index = members->indices[i];
		if (!walk->is_found[index])
			members->indices[kept++] = index;
		walk->is_found[index] = true;
	}
	members->count = kept;
}

static bool are_all_found(const struct walk *walk, const struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		if (!walk->is_found[members->indices[i]])
			return false;
	}
	return true;
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, const struct members *members,
			  unsigned level);

static void walk_scope(struct walk *walk, Dwarf_Die *die, int tag, const struct members *members,
		       unsigned level)
{
	struct members inside = members_inside(walk, die, members);
	if (tag == DW_TAG_subprogram)
		keep_first_found(walk, &inside);
	for (size_t i = 0; i < inside.count; i++) {
		struct symbol_address *address = &walk->addresses[inside.indices[i]];
		if (tag == DW_TAG_subprogram) {
			set_function(walk, die, &address->function);
			spell_ada(walk, &address->function);
		} else if (tag == DW_TAG_inlined_subroutine) {
			add_inlined(walk, die, address);
		}
	}
	if (inside.count > 0)
		walk_children(walk, die, &inside, level);
	free(inside.indices);
}

static void walk_children(struct walk *walk, Dwarf_Die *parent, const struct members *members,
			  unsigned level)
{
	Dwarf_Die die;
	if (level >= LEVELS_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		switch (tag) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
			walk_scope(walk, &die, tag, members, level + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type: /* Rust's have methods */
			/* They have no code of their own, but may hold the definitions. */
			walk_children(walk, &die, members, level + 1);
			break;
		default:
			break;
		}
	} while (has_steps(walk) && dwarf_siblingof(&die, &die) == 0);
}

/* Finds functions inside entries that do not hold their code: functions of local classes and
 * lambdas in entries for the source (abstract instances and declarations, which have no code),
 * nested ones of C, Ada and Fortran beside their hosts' code. */
static void walk_nested(struct walk *walk, Dwarf_Die *parent, const struct members *members,
			unsigned level)
{
	Dwarf_Die die;
	if (level >= LEVELS_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			walk_scope(walk, &die, tag, members, level + 1);
		if (dwarf_haschildren(&die) == 1)
			walk_nested(walk, &die, members, level + 1);
	} while (walk->nested_steps++ < NESTED_STEPS_MAX && dwarf_siblingof(&die, &die) == 0);
}

static void set_lines(struct walk *walk, Dwarf_Die *unit, const struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		struct symbol_address *address = &walk->addresses[members->indices[i]];
		struct symbol_entry *innermost = symbol_address_innermost(address);
		Dwarf_Line *line = dwarf_getsrc_die(unit, address->rva - walk->bias);
		int number = 0;
		const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (!file)
			continue;
		free(innermost->file);
		innermost->file = path_join(walk->directory, file);
		if (dwarf_lineno(line, &number) == 0 && number > 0)
			innermost->line = (uint32_t)number;
	}
}

/* DW_AT_comp_dir (DWARF 5 section 3.1.1). */
static const char *directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute memory;
	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &memory));
}

static bool is_ada(int language)
{
	return language == DW_LANG_Ada83 || language == DW_LANG_Ada95 ||
	       language == LANGUAGE_ADA_2005 || language == LANGUAGE_ADA_2012;
}

/* skeleton has the ranges and the lines; entries are elsewhere for split DWARF. */
static void walk_unit(struct walk *walk, Dwarf_Die *skeleton, uint8_t type,
		      const struct members *all)
{
	size_t file_count;
	struct members members = members_inside(walk, skeleton, all);
	if (members.count > 0) {
		Dwarf_Die split;
		Dwarf_Die *body = skeleton;
		if (type == DW_UT_skeleton &&
		    split_units_find(&walk->splits, skeleton, walk->path, &split))
			body = &split;
		/* A split unit may have no table of files. */
		if (dwarf_getsrcfiles(body, &walk->files, &file_count) != 0 &&
		    dwarf_getsrcfiles(skeleton, &walk->files, &file_count) != 0)
			walk->files = NULL;
		walk->is_ada = is_ada(dwarf_srclang(body));
		walk->directory = directory_of(skeleton);
		walk_children(walk, body, &members, 0);
		if (!are_all_found(walk, &members))
			walk_nested(walk, body, &members, 0);
		set_lines(walk, skeleton, &members);
	}
	free(members.indices);
}

static uint64_t find_first_code(const struct symbol_file *file)
{
	uint64_t first = UINT64_MAX;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
		    header.sh_addr < first)
			first = header.sh_addr;
	}
	return first == UINT64_MAX ? 0 : first;
}

void dwarf_inlines_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	struct walk walk = {.addresses = addresses, .first_code = find_first_code(file)};
	Dwarf *dwarf = dwfl_module_getdwarf(file->module, &walk.bias);
	if (!dwarf || count == 0)
		return;
	walk.path = split_units_path(file->module);
	walk.is_found = xalloc_zeroed(count, sizeof(*walk.is_found));
	walk.list_of = xalloc_zeroed(count, sizeof(*walk.list_of));
	struct members all = {xalloc_zeroed(count, sizeof(*all.indices)), count};
	for (size_t i = 0; i < count; i++)
		all.indices[i] = i;

	Dwarf_CU *unit = NULL;
	Dwarf_Die skeleton;
	uint8_t type;
	/* Not asked for split parts, libdw opens no file of itself. */
	while (has_steps(&walk) &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &type, &skeleton, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			walk_unit(&walk, &skeleton, type, &all);
	free(all.indices);
	free(walk.is_found);
	free(walk.list_of);
	dwarf_names_finish(&walk.names);
	split_units_finish(&walk.splits);
}
