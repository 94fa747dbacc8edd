/*
 * split [MS]: three functions take 50, 30 and 20 % of the CPU time. The rounds have random lengths,
 * so that no sampling interval falls into step with them.
 */
#include "tests/targets/work.h"
#include <stdlib.h>

WORK_FUNCTION(split_half)
WORK_FUNCTION(split_third)
WORK_FUNCTION(split_fifth)

int main(int argc, char **argv)
{
	uint64_t total = work_argument(argc, argv, 1, 3000) * WORK_MS;
	uint64_t half = 0;
	uint64_t third = 0;
	uint64_t fifth = 0;
	unsigned short seed[3] = {1, 2, 3};

	while (half + third + fifth < total) {
		/* 0.5 to 1.5 ms per tenth */
		uint64_t tenth = 500000 + (uint64_t)nrand48(seed) % 1000000;

		half += split_half(5 * tenth);
		third += split_third(3 * tenth);
		fifth += split_fifth(2 * tenth);
	}
	work_print("split_half", half);
	work_print("split_third", third);
	work_print("split_fifth", fifth);
	work_print("process_ns", work_process_ns());
	return 0;
}
