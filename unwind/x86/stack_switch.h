/*
 * Code that loaded the stack pointer with another stack, unknown to its unwind information.
 *
 * An assembler that derives unwind information from pushes and pops, as Go's does, treats code that
 * loads the stack pointer like all other code: the caller's frame lies so many bytes above. On the
 * loaded stack this place holds any word: another frame's, or an old one.
 */
#ifndef UNWIND_X86_STACK_SWITCH_H
#define UNWIND_X86_STACK_SWITCH_H

#include "unwind/cfi/find.h"

struct uw_elf;

/* Whether a function's unwind information may come from such an assembler. .eh_frame comes from
 * compilers, or was written by hand for the purpose. For machines other than x86-64 the question is
 * not answered (false). */
static inline bool uw_stack_may_switch(const struct uw_fde *fde)
{
	return fde->cfi->is_debug && fde->cfi->arch == UW_ARCH_X86_64;
}

/* Code of a function: ELF virtual addresses [start, end). */
struct uw_code_range {
	uint64_t start, end;
};

/*
 * Whether the x86-64 code at rva (a return address unless exact) in a function runs on a stack that
 * it loaded itself. True only on proof: all instructions from the function's start on are known,
 * and a straight line, joined by no jump from before, leads from the load of the stack pointer to
 * the call that returns to rva or, if exact, through rva to a call, a jump through a register or
 * another load. Code that takes words off the new stack, or returns to an address on it, has found
 * its own frame there. *load: the instruction that loads the stack pointer; unwind information that
 * knows of the load tells another distance of the CFA behind it than before. At most one read of
 * the file, of some hundred bytes.
 */
bool uw_stack_is_loaded(const struct uw_elf *elf, const struct uw_code_range *function,
			uint64_t rva, bool exact, struct uw_code_range *load);

/* Whether the code at rva runs on a stack that it loaded itself, although by the x86-64 fde the
 * CFA's distance to the stack pointer does not change there. *effort: as in uw_cfi_row. */
bool uw_stack_is_switched(const struct uw_elf *elf, const struct uw_fde *fde, uint64_t rva,
			  bool exact, uint32_t *effort);

#endif
