/*
 * Import stubs (procedure linkage table): which imported function a stub jumps to.
 */
#ifndef TOOLS_SYMBOLS_PLT_H
#define TOOLS_SYMBOLS_PLT_H

#include "tools/image/image.h"
#include "tools/symbols/address.h"

/* Sets the function of addresses in .plt, .plt.sec, .plt.got and .iplt: name of the imported
 * function ("" if it cannot be told) and is_plt. Addresses that have a name keep it. */
void plt_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
