/* A mixing function for draws: each input bit changes half of the output bits. */
#ifndef COLLECTOR_MACHINE_MIX_H
#define COLLECTOR_MACHINE_MIX_H

#include <stdint.h>

/* The finalizer of MurmurHash3. */
static inline uint64_t mix64(uint64_t value)
{
	value = (value ^ value >> 33) * 0xff51afd7ed558ccdull;
	value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ull;
	return value ^ value >> 33;
}

#endif
