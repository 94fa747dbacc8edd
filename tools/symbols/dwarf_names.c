#include "tools/symbols/dwarf_names.h"

#include "tools/memory/xalloc.h"
#include "tools/names/demangle.h"
#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ORIGINS_MAX     8u    /* an inlined call, its abstract instance, the declaration */
#define NAME_LENGTH_MAX 4096u /* scopes can nest as deep as a damaged file says */

/* DW_LANG_ codes newer than DWARF 5. */
#define LANGUAGE_C_PLUS_PLUS_17 0x2a
#define LANGUAGE_C_PLUS_PLUS_20 0x2b

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute memory;
	Dwarf_Attribute *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
	if (!name)
		name = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &memory);
	return name ? dwarf_formstring(name) : NULL;
}

/* The entry of the function's declaration in the source. */
static Dwarf_Die find_origin(Dwarf_Die *die)
{
	Dwarf_Die origin = *die;
	for (unsigned i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute memory;
		Dwarf_Die next;
		Dwarf_Attribute *link = dwarf_attr(&origin, DW_AT_abstract_origin, &memory);
		if (!link)
			link = dwarf_attr(&origin, DW_AT_specification, &memory);
		if (!link || !dwarf_formref_die(link, &next))
			break;
		origin = next;
	}
	return origin;
}

/* DW_LANG_ code of the entry's unit; -1: none. */
static int language_of(Dwarf_Die *die)
{
	Dwarf_Die unit;
	return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

static bool is_cpp(int language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANGUAGE_C_PLUS_PLUS_17:
	case LANGUAGE_C_PLUS_PLUS_20:
		return true;
	default:
		return false;
	}
}

static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* The scope's own name, for the caller to free, NULL to leave the scope out. *is_whole: a
 * function's linkage name needs no outer scopes, and its entry may stand outside them. */
static char *scope_name(Dwarf_Die *scope, const char *member, bool *is_whole)
{
	if (!is_scope(scope))
		return NULL;
	const char *linkage = dwarf_tag(scope) == DW_TAG_subprogram ? linkage_name(scope) : NULL;
	if (linkage) {
		*is_whole = true;
		return demangle_name(linkage, DEMANGLE_SHORT);
	}
	const char *name = dwarf_diename(scope);
	if (name)
		return xalloc_text(name);
	/* A lambda's class has no name. */
	return strcmp(member, "operator()") == 0 ? xalloc_text("{lambda}") : NULL;
}

static char *scoped_name(Dwarf_Die *origin, const char *name)
{
	Dwarf_Die *scopes = NULL;
	char *whole = xalloc_text(name);
	bool is_whole = false;
	int count = dwarf_getscopes_die(origin, &scopes);
	/* scopes[0] is the function itself */
	for (int i = 1; i < count && !is_whole && strlen(whole) < NAME_LENGTH_MAX; i++) {
		char *scope = scope_name(&scopes[i], name, &is_whole);
		if (!scope)
			continue;
		char *longer = xalloc_printf("%s::%s", scope, whole);
		free(scope);
		free(whole);
		whole = longer;
	}
	free(scopes);
	return whole;
}

const char *dwarf_names_of(struct dwarf_names *names, Dwarf_Die *die)
{
	const char *linkage = linkage_name(die);
	if (linkage)
		return linkage;
	const char *name = dwarf_diename(die);
	if (!name)
		return NULL;
	/* With LTO the entry with the code is in another unit, which may claim another language.
	 * Partial units of dwz claim none: the importing unit's counts then. */
	Dwarf_Die origin = find_origin(die);
	int language = language_of(&origin);
	if (!is_cpp(language >= 0 ? language : language_of(die)))
		return name;
	size_t at = ((uintptr_t)origin.addr / 4) % DWARF_NAMES_CACHE;
	if (names->cache[at].die == origin.addr && names->cache[at].name)
		return names->cache[at].name;
	if (names->scoped++ >= DWARF_NAMES_SCOPED_MAX)
		return name;
	free(names->cache[at].name);
	names->cache[at].die = origin.addr;
	names->cache[at].name = scoped_name(&origin, name);
	return names->cache[at].name;
}

void dwarf_names_finish(struct dwarf_names *names)
{
	for (size_t i = 0; i < DWARF_NAMES_CACHE; i++)
		free(names->cache[i].name);
	memset(names, 0, sizeof(*names));
}
