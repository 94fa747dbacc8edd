#include "unwind/step/cfa.h"

enum { LOWEST_STACK = 64 * 1024 }; /* the usual vm.mmap_min_addr: no mapping lies below */

enum uw_step uw_cfa_refuse(struct uw_memory *memory, uint64_t cfa, bool cfa_is_far)
{
	uint64_t base = memory->stack->base;

	/* The copy holds frames further in. */
	if (!cfa_is_far || cfa % memory->word != 0 || cfa < LOWEST_STACK || cfa > base ||
	    base - cfa < UW_RED_ZONE)
		return UW_STEP_BAD;
	memory->failed = cfa - memory->word;
	return UW_STEP_READ;
}
