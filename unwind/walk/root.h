/*
 * Where a stack ends. Unwind information marks a thread's and a program's first function by an
 * undefined return address. A frame that looks like the outermost one for another reason, such as a
 * zero in place of a return address, has to be confirmed by the words on the stack.
 */
#ifndef UNWIND_WALK_ROOT_H
#define UNWIND_WALK_ROOT_H

#include "unwind/frame/machine.h"

struct uw_space;

/* What ended a stack. */
enum uw_root {
	UW_ROOT_TOLD, /* unwind information or known code: the stack is not asked */
	UW_ROOT_NULL, /* a null return address, right below the caller's stack pointer */
	UW_ROOT_ENTRY /* code without unwind information at the file's entry point */
};

/*
 * Asks the copied stack about a root; sp is the caller's stack pointer (UW_ROOT_NULL) or the
 * frame's own (UW_ROOT_ENTRY). UW_STEP_ROOT: confirmed. UW_STEP_NONE: the copy shows nothing.
 * UW_STEP_BAD: there are callers further up. The work is bounded.
 *
 * UW_ROOT_NULL: the stack's memory ends near sp, the copy reaches this end, and no return address
 * lies from sp on. Stacks made for coroutines look like this; above a pushed zero, or zeros a
 * register happens to point to, there are callers.
 * UW_ROOT_ENTRY: the number of arguments and the pointers to them, which the kernel puts on a new
 * program's stack (psABI, section 3.4.1), lie at sp, or above words pushed by the code itself.
 */
enum uw_step uw_root_check(struct uw_space *space, const struct uw_stack *stack, enum uw_root root,
			   uint64_t sp);

#endif
