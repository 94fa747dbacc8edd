/*
 * Start and size of the functions that cold parts (names/cold_name.h) belong to.
 */
#ifndef TOOLS_SYMBOLS_COLD_PART_H
#define TOOLS_SYMBOLS_COLD_PART_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* Gives each function that is a cold part the start and the size of its owner, if just one symbol
 * has the owner's name. The names stay. */
void cold_part_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

#endif
