/* Numbers as parts of others. */
#ifndef CONTAINERS_SCALE_H
#define CONTAINERS_SCALE_H

#include <stdint.h>

/* number * part / whole, rounded down, and the rest of the division; whole is not 0, and the result
 * fits. Of 128 bits a division takes up to 90 cycles: one of doubles takes 14, and is off by 1 at
 * most where numbers are this small (five roundings of 2^-53 each, of less than 2^49). */
static inline uint64_t scale_number(uint64_t number, uint64_t part, uint64_t whole, uint64_t *rest)
{
	const uint64_t limit = UINT64_C(1) << 62;
	if (number < limit && part < limit && whole < limit) {
		double guess =
			(double)(int64_t)number * (double)(int64_t)part / (double)(int64_t)whole;
		if (guess < (double)(INT64_C(1) << 49)) {
			uint64_t quotient = (uint64_t)(int64_t)guess;
			int64_t left = (int64_t)(number * part - quotient * whole);
			int64_t fix = left < 0 ? -1 : left >= (int64_t)whole;
			*rest = (uint64_t)(left - fix * (int64_t)whole);
			return quotient + (uint64_t)fix;
		}
	}
	unsigned __int128 product = (unsigned __int128)number * part;
	*rest = (uint64_t)(product % whole);
	return (uint64_t)(product / whole);
}

#endif
