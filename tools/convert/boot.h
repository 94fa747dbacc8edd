/* Which start of the machine a time is of. Pure function. */
#ifndef TOOLS_CONVERT_BOOT_H
#define TOOLS_CONVERT_BOOT_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether it is still the start of the machine that `then` is of: how far the date is from the time
 * since the start (CLOCK_REALTIME, CLOCK_MONOTONIC_RAW, in ns) tells one from another, but for
 * clocks set meanwhile, 5 s, and drift, some 10^-5 of the time between. */
bool boot_is_same(const struct profile_clock *then, uint64_t raw_ns, uint64_t real_ns);

#endif
