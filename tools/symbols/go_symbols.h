/*
 * Functions, source places and inlined calls of Go code, by the table that the Go runtime itself
 * uses (.gopclntab): a program stripped of symbols and DWARF has it too.
 */
#ifndef TOOLS_SYMBOLS_GO_SYMBOLS_H
#define TOOLS_SYMBOLS_GO_SYMBOLS_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Names the functions that have no name, and adds source places and inlined functions where no
 * other source knew places. The table has "[...]" in place of the types of a generic function. */
void go_symbols_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

#endif
