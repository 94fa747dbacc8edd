/*
 * Starts of functions in a file without symbols, from its unwind tables (.eh_frame of the Linux
 * Standard Base, Core, "Exception Frames"). libdw reads the entries.
 */
#ifndef TOOLS_SYMBOLS_EH_FRAME_H
#define TOOLS_SYMBOLS_EH_FRAME_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

struct eh_frame_range {
	uint64_t start;
	uint64_t size;
};

/* The code of each FDE of a file. Begins as {.file = ...}; the first search reads the file. */
struct eh_frame_table {
	const struct symbol_file *file;
	bool is_open;
	struct eh_frame_range *ranges; /* by start */
	size_t count;
};

/* The code of the last FDE that starts at or below rva, and may end before. False: none. */
bool eh_frame_find(struct eh_frame_table *table, uint64_t rva, uint64_t *start, uint64_t *size);

/* Frees the ranges, not the file. */
void eh_frame_close(struct eh_frame_table *table);

/* Sets start, size and is_pseudo (no name) of each function without a name and a start, if an FDE
 * covers its address. */
void eh_frame_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count);

#endif
