#include "tests/targets/work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0) {
		perror("clock_gettime");
		exit(3);
	}
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t work_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t work_process_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void work_print(const char *key, uint64_t value)
{
	printf("%s %" PRIu64 "\n", key, value);
	fflush(stdout);
}

uint64_t work_argument(int argc, char **argv, int i, uint64_t default_value)
{
	char *end;

	if (i >= argc)
		return default_value;
	errno = 0;
	uint64_t value = strtoull(argv[i], &end, 10);
	if (errno != 0 || end == argv[i] || *end != '\0') {
		fprintf(stderr, "%s: not a number: %s\n", argv[0], argv[i]);
		exit(2);
	}
	return value;
}
