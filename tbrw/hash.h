/* Hashing that a file cannot foresee: whoever chooses its ids and strings does not choose which of
 * them meet in a table. */
#ifndef TBRW_HASH_H
#define TBRW_HASH_H

#include <stdint.h>
#include <sys/random.h>
#include <time.h>

/* A number of this table's own. */
static inline uint64_t tb5_hash_seed(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u + (uint64_t)(uintptr_t)&now;
}

/* Spreads every bit over all others. */
static inline uint64_t tb5_hash_mix(uint64_t value)
{
	value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
	value = (value ^ value >> 29) * 0xff51afd7ed558ccdu;
	return value ^ value >> 32;
}

#endif
