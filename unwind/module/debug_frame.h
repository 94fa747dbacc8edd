/* The .debug_frame of a file: a module's own, or its separate debug file. */
#ifndef UNWIND_MODULE_DEBUG_FRAME_H
#define UNWIND_MODULE_DEBUG_FRAME_H

#include "unwind/cfi/find.h"

struct uw_elf;

struct uw_debug_frame {
	struct uw_cfi cfi; /* of the bytes; uw_cfi_finish it */
	uint8_t *bytes;    /* owned; NULL: there is none, or none that can be read */
	bool is_refused;   /* it is compressed, and could not be inflated */
};

/* Reads the file's .debug_frame, inflated where it is compressed. Returns 0, also where it has none
 * or one that cannot be read, or -1: out of memory. There is nothing to free without bytes. */
int uw_debug_frame_open(const struct uw_elf *elf, struct uw_debug_frame *frame);

#endif
