/* The order of numbers, for qsort and the like: negative, 0 or positive. */
#ifndef CONTAINERS_COMPARE_H
#define CONTAINERS_COMPARE_H

#include <stdint.h>

static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
