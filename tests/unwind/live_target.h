/* A stopped program of one thread: its mappings as an address space, its registers and its stack.
 */
#ifndef TESTS_UNWIND_LIVE_TARGET_H
#define TESTS_UNWIND_LIVE_TARGET_H

#include "unwind/unwind.h"
#include <sys/types.h>

/* Says what failed, by errno, and exits. */
void live_target_die(const char *what);

/* /proc/PID/maps, valid until the next call; NULL: cannot be read. */
char *live_target_maps(pid_t pid);

/* A space of these mappings; vdso: start and end, where there is one. */
struct uw_space *live_target_space(pid_t pid, enum uw_arch arch, const char *maps,
				   uint64_t vdso[static 2]);

/* Takes a sample of the program, which the caller traces; the stack is valid until the next call.
 * Returns the width of the code that it is in. */
enum uw_arch live_target_sample(pid_t pid, struct uw_regs *regs, struct uw_stack *stack);

#endif
