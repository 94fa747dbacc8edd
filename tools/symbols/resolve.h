/*
 * Functions at the addresses of one image, from everything there is: symbol tables, import stubs,
 * unwind tables, DWARF, perf maps.
 */
#ifndef TOOLS_SYMBOLS_RESOLVE_H
#define TOOLS_SYMBOLS_RESOLVE_H

#include "tools/debuginfo/image.h"
#include "tools/symbols/address.h"

/* Addresses sorted by rva. After SYMBOL_IMAGE_OPEN every address has a function: with a name, or
 * is_pseudo with the start of the function or of the address itself. After anything else the
 * addresses are as they were. A path in brackets is the vdso's. debug_path as for
 * symbol_image_open. */
enum symbol_image_status resolve_file(const struct mapped_file *file, const char *debug_path,
				      struct symbol_address *addresses, size_t count);

#endif
