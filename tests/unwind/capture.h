/* Takes samples of the test process itself, in the form the library is handed. */
#ifndef TESTS_UNWIND_CAPTURE_H
#define TESTS_UNWIND_CAPTURE_H

#include "unwind/unwind.h"
#include <ucontext.h>

enum { CAPTURE_STACK_MAX = 256 * 1024 };

struct capture {
	struct uw_regs regs;
	struct uw_stack stack; /* of bytes */
	uint8_t bytes[CAPTURE_STACK_MAX];
};

/* Fills capture->regs with the caller's registers as they are when the call returns. */
void capture_registers(struct uw_regs *regs);

/* As the kernel saved them for a signal handler. */
void capture_context(struct uw_regs *regs, const ucontext_t *context);

/* Copies up to size bytes from the stack pointer in capture->regs, less where the stack ends. */
void capture_stack(struct capture *capture, size_t size);

/* Both of the caller; must be expanded in the function whose frame is to be the leaf. */
#define CAPTURE(capture)                                     \
	do {                                                 \
		capture_registers(&(capture)->regs);         \
		capture_stack((capture), CAPTURE_STACK_MAX); \
	} while (0)

/* From here on each ud2 instruction of this process takes a sample of the context it interrupts, as
 * a sampling interrupt would take it, and does nothing else. The capture is borrowed. */
void capture_at_ud2(struct capture *capture);

/*
 * The executable mappings of this process; tags count them in the order of /proc/self/maps. The
 * vdso is passed as an image. Aborts on any failure.
 */
struct uw_space *capture_space(void);

/* Valgrind runs no trap flag, and signal stacks and jumps to nowhere only with complaints. */
bool capture_under_valgrind(void);

#endif
