/*
 * Where functions start in a file without symbols: the unwind tables know (.eh_frame of the Linux
 * Standard Base, Core, "Exception Frames"). libdw reads the entries.
 */
#ifndef TOOLS_SYMBOLS_EH_FRAME_H
#define TOOLS_SYMBOLS_EH_FRAME_H

#include "tools/image/image.h"
#include "tools/symbols/address.h"

struct eh_frame_range {
	uint64_t start;
	uint64_t size;
};

/* The code that each FDE of a file describes. Begins as {.image = ...}: it is read when it is first
 * asked. */
struct eh_frame_table {
	const struct symbol_image *image;
	bool is_open;
	struct eh_frame_range *ranges; /* by start */
	size_t count;
};

/* The code of the last FDE that starts at or below rva; it may end before. False where there is
 * none. */
bool eh_frame_find(struct eh_frame_table *table, uint64_t rva, uint64_t *start, uint64_t *size);

/* Frees what was read, not the image. */
void eh_frame_close(struct eh_frame_table *table);

/* Sets start, size and is_pseudo (no name) of the function of each address that has neither a
 * name nor a start and that an FDE covers. */
void eh_frame_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
