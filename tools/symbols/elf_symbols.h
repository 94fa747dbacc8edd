/*
 * Functions and variables from symbol tables.
 */
#ifndef TOOLS_SYMBOLS_ELF_SYMBOLS_H
#define TOOLS_SYMBOLS_ELF_SYMBOLS_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/*
 * Sets the function of each address covered by a symbol. Of several symbols at one address the last
 * to start wins, then a function before a label without a type, a symbol visible to other files
 * before a hidden one, then the name a user would write: fewer leading underscores, global before
 * weak before local, shorter, first in order.
 *
 * How far a symbol without a size (assembly) reaches: where an FDE holds the address, to the FDE's
 * end if no other FDE has begun since the symbol; else to the next symbol or the end of its
 * section, but no further than ELF_SYMBOLS_REACH. Without local symbols (a stripped file) the next
 * remaining symbol says little: ELF_SYMBOLS_REACH_STRIPPED.
 */
#define ELF_SYMBOLS_REACH          65536u
#define ELF_SYMBOLS_REACH_STRIPPED 256u
void elf_symbols_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

/* Sets as the function of each address the variable around it (STT_OBJECT, with a size); the same
 * preferences. */
void elf_symbols_resolve_data(struct symbol_file *file, struct symbol_address *addresses,
			      size_t count);

#endif
