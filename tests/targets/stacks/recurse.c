/* recurse [MS [DEPTH]]: burns at the bottom of a plain and of a mutual recursion, half each. */
#include "tests/targets/work.h"

WORK_FUNCTION(recurse_bottom)

WORK_KEEP uint64_t recurse_down(uint64_t depth, uint64_t ns);
WORK_KEEP uint64_t recurse_ping(uint64_t depth, uint64_t ns);
WORK_KEEP uint64_t recurse_pong(uint64_t depth, uint64_t ns);

WORK_KEEP uint64_t recurse_down(uint64_t depth, uint64_t ns)
{
	uint64_t used = depth <= 1 ? recurse_bottom(ns) : recurse_down(depth - 1, ns);

	__asm__ volatile("" : "+r"(used));
	return used;
}

WORK_KEEP uint64_t recurse_ping(uint64_t depth, uint64_t ns)
{
	uint64_t used = depth <= 1 ? recurse_bottom(ns) : recurse_pong(depth - 1, ns);

	__asm__ volatile("" : "+r"(used));
	return used;
}

WORK_KEEP uint64_t recurse_pong(uint64_t depth, uint64_t ns)
{
	uint64_t used = depth <= 1 ? recurse_bottom(ns) : recurse_ping(depth - 1, ns);

	__asm__ volatile("" : "+r"(used));
	return used;
}

int main(int argc, char **argv)
{
	uint64_t ns = work_argument(argc, argv, 1, 1000) * WORK_MS;
	uint64_t depth = work_argument(argc, argv, 2, 300);

	work_print("down_ns", recurse_down(depth, ns / 2));
	work_print("ping_ns", recurse_ping(depth, ns / 2));
	return 0;
}
