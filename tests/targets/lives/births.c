/*
 * births [MS]: one thread burns MS of CPU time while two others bear and bury empty threads, one
 * after the other: thousands of exits per second on every CPU.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

#define PARENTS 2

WORK_FUNCTION(births_burn)

struct parent {
	pthread_t thread;
	atomic_bool *stop;
	uint64_t born;
};

static void *empty_run(void *argument)
{
	return argument;
}

static void *parent_run(void *argument)
{
	struct parent *parent = argument;
	pthread_t child;

	while (!atomic_load(parent->stop) && pthread_create(&child, NULL, empty_run, NULL) == 0) {
		pthread_join(child, NULL);
		parent->born++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 3000);
	struct parent parents[PARENTS] = {0};
	atomic_bool stop = false;
	uint64_t born = 0;
	struct rusage usage;

	for (int i = 0; i < PARENTS; i++) {
		parents[i].stop = &stop;
		if (pthread_create(&parents[i].thread, NULL, parent_run, &parents[i]) != 0)
			return 3;
	}
	work_print("burn_ns", births_burn(ms * WORK_MS));
	if (getrusage(RUSAGE_THREAD, &usage) == 0)
		work_print("burn_switches", (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw));
	atomic_store(&stop, true);
	for (int i = 0; i < PARENTS; i++) {
		pthread_join(parents[i].thread, NULL);
		born += parents[i].born;
	}
	work_print("born", born);
	work_print("process_ns", work_process_ns());
	return 0;
}
