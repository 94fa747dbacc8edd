/*
 * Import stubs (procedure linkage table): the imported function behind each stub.
 */
#ifndef TOOLS_SYMBOLS_PLT_H
#define TOOLS_SYMBOLS_PLT_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Sets the function of addresses in .plt, .plt.sec, .plt.got and .iplt: name of the imported
 * function ("": not known) and is_plt. Functions with a name keep it. */
void plt_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

#endif
