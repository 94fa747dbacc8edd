/*
 * Where a stack ends. Unwind information says so of a thread's first function, and of a program's,
 * by an undefined return address. Where something else makes a frame look like the outermost one,
 * a zero in place of a return address among them, the stack itself has to agree.
 */
#ifndef UNWIND_WALK_ROOT_H
#define UNWIND_WALK_ROOT_H

#include "unwind/cfi/state.h"

struct uw_space;

/* What ended a stack. */
enum uw_root {
	UW_ROOT_TOLD, /* unwind information, or code that is known: whatever is on the stack */
	UW_ROOT_NULL, /* a null return address, right below the caller's stack pointer */
	UW_ROOT_ENTRY /* code at the file's entry point that has no unwind information */
};

/*
 * What the copied stack says of a root, with sp the caller's stack pointer (UW_ROOT_NULL) or the
 * frame's own (UW_ROOT_ENTRY). UW_STEP_ROOT: it is one. UW_STEP_NONE: the copy does not show it.
 * UW_STEP_BAD: there are callers further up. The work is bounded.
 *
 * UW_ROOT_NULL: the copy reaches to where the stack's memory ends, which is near, and holds no
 * return address from sp on. So do the stacks that programs make for coroutines; code that has
 * pushed a zero, or a register that points to zeros, has its callers above.
 * UW_ROOT_ENTRY: what the kernel puts on a new program's stack, the number of arguments and
 * pointers to them (psABI, section 3.4.1), is at sp, or above words that the code pushed itself.
 */
enum uw_step uw_root_check(struct uw_space *space, const struct uw_stack *stack, enum uw_root root,
			   uint64_t sp);

#endif
