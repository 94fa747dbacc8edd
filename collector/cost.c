#include "collector/cost.h"

#include <time.h>

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

static uint64_t to_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

uint64_t cpu_time_ns(const struct rusage *usage)
{
	return to_ns(&usage->ru_utime) + to_ns(&usage->ru_stime);
}

uint64_t cpu_time_of_thread_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}
