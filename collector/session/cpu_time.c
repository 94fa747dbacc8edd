#include "collector/session/cpu_time.h"

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

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;
	if (clock_gettime(clock, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t cpu_time_of_process_ns(pid_t pid)
{
	clockid_t clock;
	return clock_getcpuclockid(pid, &clock) == 0 ? read_clock(clock) : 0;
}

uint64_t cpu_time_of_self_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t cpu_time_of_thread_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
