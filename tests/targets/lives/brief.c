/*
 * brief [MS [LIFE_US [KIND [PROGRAM ARG...]]]]: short lives, one after the other, until they have
 * used MS of CPU time. KIND thread or fork: each burns LIFE_US in brief_burn, as a thread or a
 * process; exec: each runs PROGRAM. Prints what brief_burn, the lives (by their own clock or wait4)
 * and all of it used.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shorter than work.h's turns, which take 100 us; the clock takes about 2 percent. */
#define BRIEF_TURNS (WORK_TURNS / 8)

struct lives {
	uint64_t life_ns;
	char **program;
	uint64_t *burn_ns; /* shared with the children */
	uint64_t count, lives_ns;
};

WORK_KEEP uint64_t brief_burn(uint64_t ns);
WORK_KEEP uint64_t brief_burn(uint64_t ns)
{
	uint64_t start = work_thread_ns();
	uint64_t now = start;

	while (now - start < ns) {
		for (uint32_t i = 0; i < BRIEF_TURNS; i++)
			__asm__ volatile("" : "+r"(i));
		now = work_thread_ns();
	}
	return now - start;
}

static void *brief_run(void *argument)
{
	struct lives *lives = argument;

	*lives->burn_ns += brief_burn(lives->life_ns);
	lives->lives_ns += work_thread_ns();
	return NULL;
}

static bool thread_live(struct lives *lives)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, brief_run, lives) == 0 &&
	       pthread_join(thread, NULL) == 0;
}

/* Waits for a child and adds what it and its descendants used. */
static bool child_reap(struct lives *lives, pid_t pid)
{
	struct rusage usage;
	int status;

	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
		return false;
	lives->lives_ns +=
		(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * UINT64_C(1000000000) +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	return true;
}

static bool fork_live(struct lives *lives)
{
	pid_t pid = fork();

	if (pid == 0) {
		*lives->burn_ns += brief_burn(lives->life_ns);
		_exit(0);
	}
	return child_reap(lives, pid);
}

static bool exec_live(struct lives *lives)
{
	pid_t pid;

	return posix_spawnp(&pid, lives->program[0], NULL, NULL, lives->program, environ) == 0 &&
	       child_reap(lives, pid);
}

static const struct {
	const char *name;
	bool (*live)(struct lives *);
} kinds[] = {{"thread", thread_live}, {"fork", fork_live}, {"exec", exec_live}};

static bool (*kind_named(const char *name))(struct lives *)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].live;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t total_ns = work_argument(argc, argv, 1, 3000) * WORK_MS;
	struct lives lives = {.life_ns = work_argument(argc, argv, 2, 800) * 1000,
			      .program = argv + 4};
	bool (*live)(struct lives *) = kind_named(argc > 3 ? argv[3] : "thread");

	lives.burn_ns = mmap(NULL, sizeof(*lives.burn_ns), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!live || (live == exec_live && argc < 5) || lives.burn_ns == MAP_FAILED)
		return 2;
	while (lives.lives_ns < total_ns) {
		if (!live(&lives))
			return 3;
		lives.count++;
	}
	work_print("lives", lives.count);
	work_print("burn_ns", *lives.burn_ns);
	work_print("lives_ns", lives.lives_ns);
	work_print("process_ns", work_process_ns());
	work_print("all_ns", work_process_ns() + (live == thread_live ? 0 : lives.lives_ns));
	return 0;
}
