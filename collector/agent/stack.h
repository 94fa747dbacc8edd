/* The part of a thread's stack that can be copied. */
#ifndef COLLECTOR_AGENT_STACK_H
#define COLLECTOR_AGENT_STACK_H

#include "collector/agent/channel.h"
#include <stdbool.h>
#include <stddef.h>

struct agent_stack {
	const void *bytes; /* from the stack pointer on */
	size_t size;       /* a multiple of 8; 0: the thread is not on its own stack */
	bool is_whole;     /* up to the stack's end */
};

/* At most `most` bytes. */
struct agent_stack agent_stack_of(const struct channel_registers *registers, uint64_t most);

/* Takes the registers of the function that this is written in. No function, not even an inlined
 * one: debug information would show it as a frame of every stack. */
#if defined(__x86_64__)
#define AGENT_REGISTERS_TAKE(registers)             \
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t" \
			 "movq %%rax, (%0)\n\t"     \
			 "movq %%rsp, 8(%0)\n\t"    \
			 "movq %%rbp, 16(%0)\n\t"   \
			 "movq %%rbx, 24(%0)\n\t"   \
			 "movq %%r12, 32(%0)\n\t"   \
			 "movq %%r13, 40(%0)\n\t"   \
			 "movq %%r14, 48(%0)\n\t"   \
			 "movq %%r15, 56(%0)"       \
			 :                          \
			 : "r"((registers)->value)  \
			 : "rax", "memory")
#elif defined(__aarch64__)
#define AGENT_REGISTERS_TAKE(registers)               \
	__asm__ volatile("adr x9, .\n\t"              \
			 "mov x10, sp\n\t"            \
			 "stp x9, x10, [%0]\n\t"      \
			 "stp x19, x20, [%0, 16]\n\t" \
			 "stp x21, x22, [%0, 32]\n\t" \
			 "stp x23, x24, [%0, 48]\n\t" \
			 "stp x25, x26, [%0, 64]\n\t" \
			 "stp x27, x28, [%0, 80]\n\t" \
			 "stp x29, x30, [%0, 96]"     \
			 :                            \
			 : "r"((registers)->value)    \
			 : "x9", "x10", "memory")
#endif

#endif
