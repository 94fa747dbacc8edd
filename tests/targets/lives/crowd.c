/*
 * crowd [THREADS [MS]]: many threads at once, each of which burns a little. burn_ns is what they
 * burned, first_ns what the first thread used to make and end them.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

WORK_FUNCTION(crowd_burn)

struct member {
	pthread_t thread;
	pthread_barrier_t *start;
	uint64_t ask_ns;
	uint64_t burn_ns;
	uint64_t used_ns;
	pid_t tid;
};

static void *member_run(void *argument)
{
	struct member *member = argument;

	member->tid = gettid();
	pthread_barrier_wait(member->start);
	member->burn_ns = crowd_burn(member->ask_ns);
	member->used_ns = work_thread_ns();
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t count = work_argument(argc, argv, 1, 1000);
	uint64_t ms = work_argument(argc, argv, 2, 3);
	struct member *members = calloc(count, sizeof(*members));
	pthread_barrier_t start;
	uint64_t burn_ns = 0;

	if (!members || count == 0 || count > 100000)
		return 3;
	if (pthread_barrier_init(&start, NULL, (unsigned)count) != 0)
		return 3;
	for (uint64_t i = 0; i < count; i++) {
		members[i].start = &start;
		members[i].ask_ns = ms * WORK_MS;
		if (pthread_create(&members[i].thread, NULL, member_run, &members[i]) != 0) {
			perror("pthread_create");
			return 3;
		}
	}
	for (uint64_t i = 0; i < count; i++) {
		pthread_join(members[i].thread, NULL);
		printf("thread crowd %d %lu\n", members[i].tid, (unsigned long)members[i].used_ns);
		burn_ns += members[i].burn_ns;
	}
	work_print("burn_ns", burn_ns);
	work_print("first_ns", work_thread_ns());
	work_print("process_ns", work_process_ns());
	free(members);
	return 0;
}
