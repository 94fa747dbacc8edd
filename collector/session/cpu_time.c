#include "collector/session/cpu_time.h"

#include "collector/machine/clock.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

/* user, nice, system, idle, iowait, irq, softirq come before it */
enum { STEAL_COLUMN = 7, STAT_LINE_MAX = 512 };

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

/* The steal of the line of all CPUs together, in ticks. */
static uint64_t parse_steal(const char *line)
{
	const char *at = line + strlen("cpu");
	uint64_t ticks = 0;
	if (strncmp(line, "cpu ", strlen("cpu ")) != 0)
		return 0;
	for (int column = 0; column <= STEAL_COLUMN; column++) {
		char *end;
		ticks = strtoull(at, &end, 10);
		if (end == at)
			return 0;
		at = end;
	}
	return ticks;
}

uint64_t cpu_time_stolen_ns(const char *path)
{
	char line[STAT_LINE_MAX];
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	bool is_read = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	return is_read ? parse_steal(line) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) : 0;
}
