/* Times that glibc takes. Some of its calls refuse others before they look at the lock, so these
 * calls are left to it whole. */
#ifndef COLLECTOR_AGENT_VALID_TIME_H
#define COLLECTOR_AGENT_VALID_TIME_H

#include <stdbool.h>
#include <time.h>

static inline bool agent_is_valid_time(clockid_t clock, const struct timespec *until)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until->tv_nsec >= 0 &&
	       until->tv_nsec < 1000000000;
}

#endif
