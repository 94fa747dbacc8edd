/* brief [MS]: threads of 0.8 ms, one after the other, until they have used MS of CPU time. */
#include "tests/targets/work.h"

#include <pthread.h>
#include <stdint.h>

#define LIFE_NS UINT64_C(800000)

/* Shorter than work.h's turns, which take 100 us. */
WORK_KEEP void brief_burn(void);
WORK_KEEP void brief_burn(void)
{
	uint64_t start = work_thread_ns();
	while (work_thread_ns() - start < LIFE_NS)
		for (uint32_t i = 0; i < WORK_TURNS / 100; i++)
			__asm__ volatile("" : "+r"(i));
}

static void *brief_run(void *argument)
{
	brief_burn();
	return argument;
}

int main(int argc, char **argv)
{
	uint64_t total = work_argument(argc, argv, 1, 3000) * WORK_MS;
	uint64_t count = 0;
	pthread_t thread;

	while (work_process_ns() < total) {
		if (pthread_create(&thread, NULL, brief_run, NULL) != 0)
			return 3;
		pthread_join(thread, NULL);
		count++;
	}
	work_print("threads", count);
	work_print("process_ns", work_process_ns());
	return 0;
}
