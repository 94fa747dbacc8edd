#include "tests/targets/work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* The letter behind the name, which may hold parentheses itself. */
static char state_of(const char *path)
{
	char text[512];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (size <= 0) {
		perror(path);
		exit(3);
	}
	close(fd);
	text[size] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

void work_wait_asleep(pid_t tid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	while (state_of(path) != 'S')
		usleep(100);
}
