/* A module's internals, for space, step and walk. Public calls: unwind.h. */
#ifndef UNWIND_MODULE_MODULE_H
#define UNWIND_MODULE_MODULE_H

#include "unwind/cfi/find.h"
#include "unwind/elf/elf.h"
#include "unwind/go/table.h"

struct uw_functions;

struct uw_module {
	unsigned references;
	struct uw_elf elf; /* sections are read later (has_sections) */
	/* Unwind information: valid after uw_module_load. */
	struct uw_cfi cfi;     /* spans point into the blocks below */
	struct uw_cfi debug;   /* .debug_frame beside an .eh_frame of little code; size 0: none */
	struct uw_lines lines; /* of code that was looked at */
	uint8_t *hdr_bytes;    /* owned copy of .eh_frame_hdr */
	uint8_t *debug_bytes;  /* owned copy of .debug_frame */
	struct uw_go go;       /* Go's table of functions; empty: there is none */
	struct uw_functions *functions; /* owned; NULL: not asked for yet */
	bool lacks_info;                /* neither of them describes much of the code */
	bool has_refused;               /* a .debug_frame could not be inflated */
	bool is_loaded;
	bool is_go_searched; /* for a table of Go's that no section is named after */
};

/*
 * Reads the module's unwind information: the first walk, not the mapping, pays for this. Call
 * before any use of cfi and debug. Out of memory: the module has no unwind information.
 */
void uw_module_load_now(struct uw_module *module);

static inline void uw_module_load(struct uw_module *module)
{
	if (!module->is_loaded)
		uw_module_load_now(module);
}

/*
 * Takes elf's .debug_frame into a module without one. elf is the module's own file or its debug
 * file. Returns 0, also for an absent or unreadable .debug_frame, or -1: out of memory.
 */
int uw_module_take_debug(struct uw_module *module, const struct uw_elf *elf);

/* Looks for a table of Go's in a loaded module without one, once. true: it is found now. Out of
 * memory: there is none. */
bool uw_module_search_go(struct uw_module *module);

/* Finds the FDE of rva in cfi, then in debug; results as uw_cfi_find. */
enum uw_cfi_result uw_module_find(const struct uw_module *module, uint64_t rva, struct uw_fde *fde,
				  struct uw_cfi_gap *gap);

/* What is known of the functions without call frame information, of x86-64 code; NULL: of other
 * code, or out of memory. */
struct uw_functions *uw_module_functions(struct uw_module *module);

#endif
