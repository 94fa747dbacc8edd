/*
 * Functions at the addresses of one file, from everything there is: symbol tables, import stubs,
 * unwind tables, DWARF, perf maps.
 */
#ifndef TOOLS_SYMBOLS_RESOLVE_H
#define TOOLS_SYMBOLS_RESOLVE_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Addresses sorted by rva. After SYMBOL_FILE_OPEN every address has a function: with a name, or
 * is_pseudo with the start of the function or of the address itself. After anything else the
 * addresses are as they were. A path in brackets is the vdso's. debug_path as for
 * symbol_file_open. */
enum symbol_file_status resolve_file(const struct mapped_file *mapped, const char *debug_path,
				     struct symbol_address *addresses, size_t count);

#endif
