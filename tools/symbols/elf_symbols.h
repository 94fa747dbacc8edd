/*
 * Functions from symbol tables.
 */
#ifndef TOOLS_SYMBOLS_ELF_SYMBOLS_H
#define TOOLS_SYMBOLS_ELF_SYMBOLS_H

#include "tools/symbols/address.h"
#include "tools/symbols/image.h"

/*
 * Sets the function of each address that a symbol covers. Of several symbols at one address the
 * one that starts last wins, then the name a user would write: fewer leading underscores, global
 * before weak before local, shorter, first in order. A symbol without a size (assembly) covers up
 * to the next symbol or the end of its section.
 */
void elf_symbols_resolve(struct symbol_image *image, struct symbol_address *addresses,
			 size_t count);

#endif
