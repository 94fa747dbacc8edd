/*
 * Entries of .eh_frame: which code each describes (Linux Standard Base, Core, "Exception Frames").
 */
#ifndef TOOLS_SYMBOLS_FRAME_ENTRY_H
#define TOOLS_SYMBOLS_FRAME_ENTRY_H

#include "tools/image/image.h"
#include <stdbool.h>

/* Where entries are read from. */
struct frame_bytes {
	const struct symbol_image *image;
	const uint8_t *section; /* .eh_frame; NULL: the image is asked for each entry */
	size_t size;            /* of the section */
	uint64_t rva;           /* of the section */
};

struct frame_entry {
	uint64_t size;  /* of the entry in bytes, with the length before it; at least 4 */
	uint64_t start; /* rva of the code; 0 where the entry says it in a form we do not know */
	uint64_t code_size; /* bytes of code; 0: a CIE, the end, or a form we do not know */
};

/* The entry at rva; false where its length does not lie in the bytes. Its work does not depend on
 * what is read. */
bool frame_entry_read(const struct frame_bytes *bytes, uint64_t rva, struct frame_entry *entry);

/* Bytes of a value in this encoding (DW_EH_PE_*), 0 for those of variable length. */
size_t frame_entry_value_size(const struct symbol_image *image, unsigned encoding);

#endif
