#include "collector/session/cpu_time.h"

#include "collector/machine/clock.h"

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

uint64_t cpu_time_of_process_ns(pid_t pid)
{
	clockid_t clock;
	return clock_getcpuclockid(pid, &clock) == 0 ? clock_read(clock) : 0;
}

uint64_t cpu_time_of_self_ns(void)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t cpu_time_of_thread_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}
