/* The frame of a Go function on x86: the same facts as a row of call frame information. */
#ifndef UNWIND_GO_FRAME_H
#define UNWIND_GO_FRAME_H

#include "unwind/go/table.h"

struct uw_go_frame {
	uint32_t size; /* bytes from the stack pointer to the return address */
	bool saves_fp; /* the caller's frame pointer lies in the word below the return address */
};

/*
 * The frame at rva, an address in the function. false: the table does not tell, as for padding and
 * for C functions that Go's linker lists. Go's compiler and assembler push the frame pointer, or
 * store it below the return address: that it is saved is read from the code, in elf. *effort: as
 * uw_go_value.
 */
bool uw_go_frame_find(const struct uw_go *go, const struct uw_elf *elf,
		      const struct uw_go_function *function, uint64_t rva, uint32_t *effort,
		      struct uw_go_frame *frame);

/* Whether the function, entered by the return address behind rva unless exact, has no caller: the
 * first function of a goroutine or of a thread. */
bool uw_go_is_top(const struct uw_go *go, const struct uw_go_function *function, bool exact);

/* Whether the function may load the stack pointer with another stack: the table tells nothing of
 * that stack. Before UW_GO_1_18 the runtime's such functions are known by their names. */
bool uw_go_may_switch(const struct uw_go *go, const struct uw_go_function *function);

#endif
