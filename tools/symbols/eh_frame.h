/*
 * Where functions start in a file without symbols: the unwind tables know (.eh_frame_hdr and
 * .eh_frame of the Linux Standard Base, Core, "Exception Frames").
 */
#ifndef TOOLS_SYMBOLS_EH_FRAME_H
#define TOOLS_SYMBOLS_EH_FRAME_H

#include "tools/symbols/address.h"
#include "tools/symbols/image.h"

/* Sets start, size and is_pseudo (no name) of the function of each address that has neither a
 * name nor a start and that an FDE covers. */
void eh_frame_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count);

#endif
