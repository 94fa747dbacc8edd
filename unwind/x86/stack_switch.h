/*
 * Code that has put another stack under itself, which its unwind information does not know.
 *
 * An assembler that makes unwind information from the pushes and pops that it sees, as Go's does,
 * says the same of code that loads the stack pointer as of all other code: that the caller's frame
 * is so many bytes above. On the stack that was loaded there is anything in that place: a word of
 * another frame, or an old one.
 */
#ifndef UNWIND_X86_STACK_SWITCH_H
#define UNWIND_X86_STACK_SWITCH_H

#include "unwind/cfi/find.h"

struct uw_elf;

/* Whether a function's unwind information may be of such an assembler: that of .eh_frame is a
 * compiler's, or was written for the purpose. Of other machines than x86-64 it is not known. */
static inline bool uw_stack_may_switch(const struct uw_fde *fde)
{
	return fde->cfi->is_debug && fde->cfi->arch == UW_ARCH_X86_64;
}

/* Whether a function, for which uw_stack_may_switch, has an instruction that loads the stack
 * pointer: what uw_stack_is_switched says of it is to be asked then. elf: the file of the code, of
 * which this is one read. */
bool uw_stack_is_loaded(const struct uw_elf *elf, const struct uw_fde *fde);

/*
 * Whether the code at rva, which is a return address unless exact, runs on a stack that it loaded
 * itself, although by its unwind information, x86-64's fde, the stack pointer stays what it is
 * there. Only what is seen to be so is: all instructions from the function's start on are known
 * ones, and a straight line, which no jump from before it joins, leads from the one that loads the
 * stack pointer to the call that returns to rva, or, if exact, by way of rva to a call, a jump
 * through a register or the next such instruction. Code that takes words off the new stack, or
 * returns to what is there, has found its own frame on it. *effort: as in uw_cfi_row_within. One
 * read of the file, of some hundred bytes, at most.
 */
bool uw_stack_is_switched(const struct uw_elf *elf, const struct uw_fde *fde, uint64_t rva,
			  bool exact, uint32_t *effort);

#endif
