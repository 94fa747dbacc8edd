/* memlock: locks all its memory, now and in future, with a limit of 8 MB and no privileges, then
 * waits for a thread. Exit status 0: all of that was allowed; else it prints what was not. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 8 << 20, WORK_NS = 5000000, STACK_SIZE = 64 << 10, NOBODY = 65534 };

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *work(void *unused)
{
	uint64_t end_ns = now_ns() + WORK_NS;
	while (now_ns() < end_ns)
		continue;
	return unused;
}

static int fail(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(error));
	return 1;
}

int main(void)
{
	struct rlimit limit = {LIMIT, LIMIT};
	pthread_attr_t attributes;
	pthread_t thread;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return fail("setrlimit", errno);
	if (geteuid() == 0 && setuid(NOBODY) < 0)
		return fail("setuid", errno);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		return fail("mlockall", errno);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int error = pthread_create(&thread, &attributes, work, NULL);
	if (error)
		return fail("pthread_create", error);
	pthread_join(thread, NULL);
	puts("locked");
	return 0;
}
