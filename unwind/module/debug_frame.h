/* The .debug_frame of a file: a module's own, or its separate debug file. */
#ifndef UNWIND_MODULE_DEBUG_FRAME_H
#define UNWIND_MODULE_DEBUG_FRAME_H

#include "unwind/cfi/find.h"

struct uw_elf;

struct uw_debug_frame {
	struct uw_cfi cfi; /* of the bytes; uw_cfi_finish it */
	uint8_t *bytes;    /* owned; NULL: absent or unreadable */
	bool is_refused;   /* compressed, and could not be inflated */
};

/* Reads the file's .debug_frame, and inflates a compressed one. Returns 0, also for an absent or
 * unreadable one, or -1: out of memory. Without bytes there is nothing to free. */
int uw_debug_frame_open(const struct uw_elf *elf, struct uw_debug_frame *frame);

#endif
