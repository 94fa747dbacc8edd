/* headless [MS]: the first thread ends at once; another one sleeps and works on for MS. */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

WORK_FUNCTION(headless_burn)

static void *run(void *argument)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	uint64_t rounds = *(const uint64_t *)argument / 21;
	uint64_t used = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		used += headless_burn(WORK_MS);
		nanosleep(&pause, NULL);
	}
	work_print("burn_ns", used);
	exit(0);
}

int main(int argc, char **argv)
{
	static uint64_t ms;
	pthread_t thread;

	ms = work_argument(argc, argv, 1, 1000);
	if (pthread_create(&thread, NULL, run, &ms) != 0)
		return 3;
	pthread_exit(NULL);
}
