/*
 * Functions of the running kernel, from /proc/kallsyms.
 */
#ifndef TOOLS_SYMBOLS_KALLSYMS_H
#define TOOLS_SYMBOLS_KALLSYMS_H

#include "tools/symbols/address.h"
#include <stdio.h>

/* No function is longer: an address further from a symbol belongs to something unnamed. */
#define KALLSYMS_DISTANCE_MAX (1u << 20)

/* Reads lines "ADDRESS TYPE NAME [MODULE]", in any order, and sets the function of each address to
 * the nearest text symbol at or below it. Addresses that the kernel hides are all 0 and name
 * nothing. Addresses sorted by rva. */
void kallsyms_read(FILE *stream, struct symbol_address *addresses, size_t count);

#endif
