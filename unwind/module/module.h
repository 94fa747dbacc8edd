/* A module's internals: what space, step and walk may ask of it. Public calls: unwind.h. */
#ifndef UNWIND_MODULE_MODULE_H
#define UNWIND_MODULE_MODULE_H

#include "unwind/cfi/find.h"
#include "unwind/elf/file.h"
#include "unwind/elf/section.h"
#include <assert.h>

struct uw_module {
	unsigned references;
	unsigned kept;     /* of the references, those of uw_module_keep */
	struct uw_elf elf; /* but for the sections: these are read with what follows */
	/* Unwind information, there after uw_module_load. */
	struct uw_cfi cfi;       /* spans point into the blocks below */
	struct uw_cfi debug;     /* .debug_frame beside an .eh_frame that says little; size 0:
				    none */
	struct uw_section frame; /* .eh_frame of a file */
	uint8_t *frame_bytes;    /* owned copy of .eh_frame of an image in memory */
	uint8_t *hdr_bytes;      /* owned copy of .eh_frame_hdr */
	uint8_t *debug_bytes;    /* owned copy of .debug_frame */
	bool lacks_info;         /* neither of them says much of the code */
	bool has_refused;        /* there is a .debug_frame that could not be inflated */
	bool is_loaded;
};

/* A reference of who reads no more of the module, and takes nobody's place who may: it only keeps
 * the pointer from becoming another module's. */
static inline struct uw_module *uw_module_keep(struct uw_module *module)
{
	assert(module);
	module->kept++;
	return uw_module_ref(module);
}

static inline void uw_module_drop(struct uw_module *module) /* accepts NULL */
{
	if (module)
		module->kept--;
	uw_module_unref(module);
}

/*
 * Reads the module's unwind information if that was not done yet: its first walk, not its mapping,
 * pays for it. All that looks at cfi and debug comes after it. Where memory is short there is none.
 */
void uw_module_load_now(struct uw_module *module);

static inline void uw_module_load(struct uw_module *module)
{
	if (!module->is_loaded)
		uw_module_load_now(module);
}

/*
 * Takes elf's .debug_frame into a module that has none yet. elf is the module's own file or its
 * debug file. Returns 0, also where it has none or one that cannot be read, or -1: out of memory.
 */
int uw_module_take_debug(struct uw_module *module, const struct uw_elf *elf);

/* Finds the FDE of rva in whatever unwind information there is; results as uw_cfi_find. */
enum uw_cfi_result uw_module_find(const struct uw_module *module, uint64_t rva, struct uw_fde *fde,
				  struct uw_cfi_gap *gap);

/*
 * The ELF virtual address of file offset pgoff when it is mapped executable. Where no segment holds
 * pgoff the offset itself is returned, an address without unwind information.
 */
uint64_t uw_module_rva(const struct uw_module *module, uint64_t pgoff);

#endif
