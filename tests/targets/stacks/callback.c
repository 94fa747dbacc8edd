/*
 * callback [MS]: burns in a function that the C library calls back: callback_start calls qsort
 * through its linkage table, which calls callback_compare, which calls callback_burn.
 */
#include "tests/targets/work.h"
#include <stdlib.h>

WORK_FUNCTION(callback_burn)

WORK_KEEP int callback_compare(const void *left, const void *right);
WORK_KEEP void callback_start(uint64_t ns);

/* A comparison has no other way to what it shall burn. */
static uint64_t burn_ns;

WORK_KEEP int callback_compare(const void *left, const void *right)
{
	callback_burn(burn_ns);
	return *(const int *)left - *(const int *)right;
}

/* Two elements take one comparison. */
WORK_KEEP void callback_start(uint64_t ns)
{
	int elements[2] = {2, 1};

	burn_ns = ns;
	qsort(elements, 2, sizeof(elements[0]), callback_compare);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	callback_start(work_argument(argc, argv, 1, 1000) * WORK_MS);
	work_print("process_ns", work_process_ns());
	return 0;
}
