/*
 * stairs [MS]: stair_01 .. stair_16 call each other, each with 64 bytes of locals, and each burns
 * before it calls the next, so that stacks are of 16 sizes up to 2 KB. They do so in rounds of 16
 * ms. stairs-tall is the same with 2 KB of locals each: up to 33 KB.
 */
#include "tests/targets/work.h"

#ifndef STAIR_LOCALS
#define STAIR_LOCALS 64
#endif

enum { LOCALS = STAIR_LOCALS, STAIRS = 16 };

WORK_FUNCTION(stair_burn)

WORK_KEEP uint64_t stair_16(uint64_t ns);
WORK_KEEP uint64_t stair_16(uint64_t ns)
{
	uint64_t used = stair_burn(ns);
	__asm__ volatile("" : "+r"(used));
	return used;
}

#define STAIR(name, next)                                        \
	WORK_KEEP uint64_t name(uint64_t ns);                    \
	WORK_KEEP uint64_t name(uint64_t ns)                     \
	{                                                        \
		char locals[LOCALS];                             \
		__asm__ volatile("" : : "r"(locals) : "memory"); \
		uint64_t used = next(ns) + stair_burn(ns);       \
		__asm__ volatile("" : "+r"(used) : "r"(locals)); \
		return used;                                     \
	}

STAIR(stair_15, stair_16)
STAIR(stair_14, stair_15)
STAIR(stair_13, stair_14)
STAIR(stair_12, stair_13)
STAIR(stair_11, stair_12)
STAIR(stair_10, stair_11)
STAIR(stair_09, stair_10)
STAIR(stair_08, stair_09)
STAIR(stair_07, stair_08)
STAIR(stair_06, stair_07)
STAIR(stair_05, stair_06)
STAIR(stair_04, stair_05)
STAIR(stair_03, stair_04)
STAIR(stair_02, stair_03)
STAIR(stair_01, stair_02)

int main(int argc, char **argv)
{
	uint64_t rounds = work_argument(argc, argv, 1, 1000) / STAIRS;
	uint64_t used = 0;

	for (uint64_t i = 0; i < rounds; i++)
		used += stair_01(WORK_MS);
	work_print("stairs_ns", used);
	work_print("process_ns", work_process_ns());
	return 0;
}
