/* A module's internals: what space, step and walk may ask of it. Public calls: unwind.h. */
#ifndef UNWIND_MODULE_H
#define UNWIND_MODULE_H

#include "unwind/cfi.h"
#include "unwind/elf_file.h"

#include <stdatomic.h>

struct uw_module {
	atomic_uint references;
	struct uw_elf elf;
	struct uw_cfi cfi;    /* spans point into the two blocks below */
	uint8_t *frame_bytes; /* owned copy of .eh_frame */
	uint8_t *hdr_bytes;   /* owned copy of .eh_frame_hdr */
};

/*
 * The ELF virtual address of file offset pgoff when it is mapped executable. Where no segment holds
 * pgoff the offset itself is returned, an address without unwind information.
 */
uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff);

/* Reads size bytes at rva from a segment that is not writable, so that they equal the target's;
   false when there are none. Does not allocate; may call pread(2). */
bool uw_module_read(const struct uw_module *module, uint64_t rva, void *bytes, size_t size);

#endif
