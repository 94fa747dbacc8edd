/*
 * serve [SECONDS]: a service to attach to. Two threads burn all the time; every 100 ms a thread is
 * born that burns 20 ms, every 200 ms a child is. Says "ready 1" when both threads run. SIGTERM
 * ends it in order, with its truth; it counts its rounds so that a test sees it running on.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

WORK_FUNCTION(serve_steady)
WORK_FUNCTION(serve_newborn)
WORK_FUNCTION(serve_child)

struct steady {
	pthread_t thread;
	atomic_bool *stop;
	atomic_int *ready;
	uint64_t used_ns;
	pid_t tid;
};

static void *steady_run(void *argument)
{
	struct steady *steady = argument;

	pthread_setname_np(pthread_self(), "steady");
	steady->tid = gettid();
	atomic_fetch_add(steady->ready, 1);
	while (!atomic_load(steady->stop))
		serve_steady(1 * WORK_MS);
	steady->used_ns = work_thread_ns();
	return NULL;
}

static void *newborn_run(void *argument)
{
	(void)argument;
	pthread_setname_np(pthread_self(), "newborn");
	serve_newborn(20 * WORK_MS);
	return NULL;
}

static int bear_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, newborn_run, NULL) != 0)
		return -1;
	return pthread_join(thread, NULL);
}

static int bear_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		serve_child(20 * WORK_MS);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

int main(int argc, char **argv)
{
	uint64_t rounds = work_argument(argc, argv, 1, 60) * 10;
	struct timespec wait = {.tv_nsec = (long)(100 * WORK_MS)};
	atomic_bool stop = false;
	atomic_int ready = 0;
	struct steady steady[2];
	uint64_t done = 0;
	sigset_t ends;

	/* Taken by sigtimedwait below; the threads inherit the mask. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (int i = 0; i < 2; i++) {
		steady[i].stop = &stop;
		steady[i].ready = &ready;
		if (pthread_create(&steady[i].thread, NULL, steady_run, &steady[i]) != 0)
			return 3;
	}
	while (atomic_load(&ready) < 2)
		sched_yield();
	work_print("pid", (uint64_t)getpid());
	work_print("ready", 1);
	while (done < rounds && sigtimedwait(&ends, NULL, &wait) != SIGTERM) {
		done++;
		if (bear_thread() != 0 || (done % 2 == 0 && bear_child() != 0))
			return 3;
		work_print("round", done);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(steady[i].thread, NULL);
		printf("thread steady %d %lu\n", steady[i].tid, (unsigned long)steady[i].used_ns);
	}
	work_print("process_ns", work_process_ns());
	work_print("ended", done);
	return 0;
}
