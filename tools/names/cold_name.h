/*
 * Names of cold parts: compilers move rarely run code out of a function, into a symbol of its own:
 * foo.cold (GCC), foo.cold.1 (GCC 8, LLVM). Users know foo. Clones (foo.constprop.0, foo.isra.0,
 * foo.part.0) are not parts: they are functions with code and callers of their own.
 */
#ifndef TOOLS_NAMES_COLD_NAME_H
#define TOOLS_NAMES_COLD_NAME_H

#include <stddef.h>

/* Length of the function's name in the name of its cold part, as in symbols or demangled in full
 * ("foo() [clone .cold]"); the whole length if name is no cold part's. */
size_t cold_name_owner_length(const char *name);

#endif
