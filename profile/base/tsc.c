#include "profile/base/tsc.h"

#include "containers/scale.h"
#include <assert.h>

typedef unsigned __int128 uint128;

static uint64_t offset_up(uint64_t base, uint128 delta)
{
	uint128 sum = base + delta;

	return sum < base || sum >= UINT64_MAX ? UINT64_MAX - 1 : (uint64_t)sum;
}

static uint64_t offset_down(uint64_t base, uint128 delta)
{
	return delta >= base ? 1 : (uint64_t)(base - delta);
}

/* Keeps a time from turning into one of the two values with a meaning of their own. */
static uint64_t between_marks(uint64_t value)
{
	return value == 0 ? 1 : value;
}

uint64_t profile_tsc_from_raw(const struct profile_clock *first, uint64_t raw_ns)
{
	uint128 rate = first->tsc_per_ns_q32;

	assert(rate != 0);
	if (raw_ns == 0 || raw_ns == UINT64_MAX)
		return raw_ns;
	if (raw_ns >= first->raw_ns)
		return between_marks(offset_up(first->tsc, (raw_ns - first->raw_ns) * rate >> 32));
	/* Rounded towards the past, as the map itself rounds. */
	uint128 product = (first->raw_ns - raw_ns) * rate;
	return offset_down(first->tsc, (product >> 32) + ((product & UINT32_MAX) != 0));
}

/* Rounded up. */
static uint128 ns_of_ticks(uint64_t ticks, uint64_t rate)
{
	uint64_t rest;

	if (ticks >> 32 >= rate)
		return (((uint128)ticks << 32) + rate - 1) / rate;
	uint64_t ns = scale_number(ticks, UINT64_C(1) << 32, rate, &rest);
	return (uint128)ns + (rest != 0);
}

uint64_t profile_raw_from_tsc(const struct profile_clock *first, uint64_t tsc)
{
	uint64_t rate = first->tsc_per_ns_q32;

	if (tsc == 0 || tsc == UINT64_MAX || rate == 0)
		return tsc;
	if (tsc >= first->tsc) {
		return between_marks(offset_up(first->raw_ns, ns_of_ticks(tsc - first->tsc, rate)));
	}
	return offset_down(first->raw_ns, ((uint128)(first->tsc - tsc) << 32) / rate);
}
