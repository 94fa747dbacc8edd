/*
 * A function as just-in-time compilers make them: it keeps a frame pointer, has no unwind
 * information, and counts its argument down.
 */
#ifndef TESTS_TARGETS_STACKS_JIT_CODE_H
#define TESTS_TARGETS_STACKS_JIT_CODE_H

#include <stdint.h>

typedef void jit_function(uint64_t turns);

#if defined(__x86_64__)
static const uint8_t jit_code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0x48, 0xff, 0xcf, /* 1: dec %rdi */
	0x75, 0xfb,       /* jne 1b */
	0x5d,             /* pop %rbp */
	0xc3,             /* ret */
};
#elif defined(__aarch64__)
static const uint8_t jit_code[] = {
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
	0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, #1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne 1b */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
#endif

#endif
