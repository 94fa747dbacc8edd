/* threads [MS]: four named threads that use CPU time 1:2:3:4, MS being the first one's part. */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 4

WORK_FUNCTION(threads_burn)

struct worker {
	pthread_t thread;
	char name[16]; /* with its NUL, as long as the kernel keeps */
	uint64_t ask_ns;
	uint64_t used_ns;
	pid_t tid;
};

static void *worker_run(void *argument)
{
	struct worker *worker = argument;

	pthread_setname_np(pthread_self(), worker->name);
	worker->tid = gettid();
	threads_burn(worker->ask_ns);
	worker->used_ns = work_thread_ns();
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 400);
	struct worker workers[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].ask_ns = ms * WORK_MS * (i + 1);
		snprintf(workers[i].name, sizeof(workers[i].name), "worker-%u", i + 1);
		if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0)
			return 3;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("thread %s %d %lu\n", workers[i].name, workers[i].tid,
		       (unsigned long)workers[i].used_ns);
	}
	work_print("process_ns", work_process_ns());
	return 0;
}
