/*
 * The perf map of a just-in-time compiler: text lines "START SIZE NAME", hexadecimal, left by the
 * program in /tmp/perf-PID.map (Linux tools/perf/Documentation/jit-interface.txt). Anyone may put a
 * file of this name there: only a file of the program's owner is read.
 */
#ifndef TOOLS_SYMBOLS_PERF_MAP_SYMBOLS_H
#define TOOLS_SYMBOLS_PERF_MAP_SYMBOLS_H

#include "tools/symbols/address.h"
#include <stdio.h>

#define PERF_MAP_LINE_MAX  4096u                 /* bytes; the rest of a longer line is left out */
#define PERF_MAP_BYTES_MAX (512u << 20)          /* the rest of a longer file is left out */
#define PERF_MAP_WORK_MAX  (20u * 1000u * 1000u) /* lines, and addresses they cover */

/* Reads lines, and sets the function of each address they cover; a later line wins over an earlier
 * one, as code is compiled again. Addresses sorted by rva. Returns the number of well-formed
 * lines. */
size_t perf_map_symbols_read(FILE *stream, struct symbol_address *addresses, size_t count);

#endif
