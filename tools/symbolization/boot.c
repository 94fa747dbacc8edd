#include "tools/symbolization/boot.h"

#define CLOCK_SET_NS UINT64_C(5000000000)
#define DRIFT_PART   1000u

bool boot_is_same(const struct profile_clock *then, uint64_t raw_ns, uint64_t real_ns)
{
	if (real_ns < then->real_ns)
		return false;
	uint64_t since_ns = real_ns - then->real_ns;
	uint64_t difference_ns = since_ns - (raw_ns - then->raw_ns);

	if (difference_ns > INT64_MAX)
		difference_ns = -difference_ns;
	return difference_ns < CLOCK_SET_NS + since_ns / DRIFT_PART;
}
