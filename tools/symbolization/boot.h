/* Tells one start of the machine from another. Pure function. */
#ifndef TOOLS_SYMBOLIZATION_BOOT_H
#define TOOLS_SYMBOLIZATION_BOOT_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether the machine has not started anew since `then`. Until a restart real_ns - raw_ns
 * (CLOCK_REALTIME, CLOCK_MONOTONIC_RAW) stays the same, but for clocks set meanwhile, 5 s, and
 * drift, some 10^-5 of the time between. */
bool boot_is_same(const struct profile_clock *then, uint64_t raw_ns, uint64_t real_ns);

#endif
