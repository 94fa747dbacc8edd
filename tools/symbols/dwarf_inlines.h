/*
 * Inlined functions and source lines from DWARF.
 */
#ifndef TOOLS_SYMBOLS_DWARF_INLINES_H
#define TOOLS_SYMBOLS_DWARF_INLINES_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Adds to each address covered by a compilation unit: the inlined functions at it, file and line of
 * each level, and the function's name where no symbol gave one. Of each unit only the entries on
 * the way to an address are read, and line tables only of units with addresses. */
void dwarf_inlines_resolve(struct symbol_file *file, struct symbol_address *addresses,
			   size_t count);

#endif
