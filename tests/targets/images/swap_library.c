/* The library of dlswap: built twice, with SWAP_WORK naming its one function. */
#include "tests/targets/work.h"

WORK_FUNCTION(SWAP_WORK)

uint64_t swap_run(uint64_t ns);

__attribute__((visibility("default"))) uint64_t swap_run(uint64_t ns)
{
	uint64_t used = SWAP_WORK(ns);

	__asm__ volatile("" : "+r"(used));
	return used;
}
