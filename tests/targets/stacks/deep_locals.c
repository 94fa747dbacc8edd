/*
 * deep_locals [MS] [touch]: burns in the last of 13 functions, deep_01 .. deep_13, each with 24 KB
 * of locals: 312 KB of stack, more than any copy that the kernel makes with a sample. With touch 0
 * the locals are never written, so that most of their pages are not in memory; but for the page of
 * the stack pointer: without it, as in one of 256 placements of the stack, there is no copy at all.
 */
#include "tests/targets/work.h"

enum { LOCALS = 24 * 1024 };

static void fill(char *locals, uint64_t touch)
{
	for (unsigned i = 0; touch != 0 && i < LOCALS; i += 64)
		locals[i] = (char)i;
	__asm__ volatile("" : : "r"(locals) : "memory");
}

WORK_KEEP uint64_t deep_13(uint64_t ns, uint64_t touch);
WORK_KEEP uint64_t deep_13(uint64_t ns, uint64_t touch)
{
	char locals[LOCALS];
	fill(locals, touch);
	*(volatile char *)locals = 0;
	uint64_t start = work_thread_ns();
	uint64_t now = start;
	while (now - start < ns) {
		for (uint32_t i = 0; i < WORK_TURNS; i++)
			__asm__ volatile("" : "+r"(i) : "r"(locals));
		now = work_thread_ns();
	}
	return now - start;
}

#define DEEP(name, callee)                                       \
	WORK_KEEP uint64_t name(uint64_t ns, uint64_t touch);    \
	WORK_KEEP uint64_t name(uint64_t ns, uint64_t touch)     \
	{                                                        \
		char locals[LOCALS];                             \
		fill(locals, touch);                             \
		uint64_t used = callee(ns, touch);               \
		__asm__ volatile("" : "+r"(used) : "r"(locals)); \
		return used;                                     \
	}

DEEP(deep_12, deep_13)
DEEP(deep_11, deep_12)
DEEP(deep_10, deep_11)
DEEP(deep_09, deep_10)
DEEP(deep_08, deep_09)
DEEP(deep_07, deep_08)
DEEP(deep_06, deep_07)
DEEP(deep_05, deep_06)
DEEP(deep_04, deep_05)
DEEP(deep_03, deep_04)
DEEP(deep_02, deep_03)
DEEP(deep_01, deep_02)

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 1000);
	uint64_t touch = work_argument(argc, argv, 2, 1);

	work_print("deep_ns", deep_01(ms * WORK_MS, touch));
	work_print("process_ns", work_process_ns());
	return 0;
}
