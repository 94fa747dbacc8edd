/* memlock: locks all its memory, now and in future, with a limit of 8 MB and no privileges, then
 * waits for a thread. Exit status 0: all of that was allowed; else it prints what was not. */
#include "tests/targets/work.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 8 << 20, STACK_SIZE = 64 << 10, NOBODY = 65534 };

/* Ends once the first thread waits for it. */
static void *work(void *unused)
{
	work_wait_asleep(getpid());
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
