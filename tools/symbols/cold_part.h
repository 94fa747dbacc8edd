/*
 * Cold parts: compilers move what is hardly ever run out of a function, into a symbol of its own:
 * foo.cold (GCC), foo.cold.1 (GCC 8, LLVM). Users know foo. Clones (foo.constprop.0, foo.isra.0,
 * foo.part.0) are not parts: they are functions with code and callers of their own.
 */
#ifndef TOOLS_SYMBOLS_COLD_PART_H
#define TOOLS_SYMBOLS_COLD_PART_H

#include "tools/image/image.h"
#include "tools/symbols/address.h"

/* Length of the function's name in that of its cold part, as symbols have it or demangled in full
 * ("foo() [clone .cold]"); the whole length where name is no cold part's. */
size_t cold_part_owner_length(const char *name);

/* Gives functions that are cold parts the start and the size of the function that they belong to,
 * if there is just one symbol of its name. The names stay. */
void cold_part_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
