/*
 * tree [CHILDREN [MS]]: short children, at most two at a time. Of four, one only burns (fork), one
 * runs this program again (exec), one has a child of its own, one ends at once. Each says its CPU
 * time in shared memory or by wait4.
 */
#include "tests/targets/work.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 2

WORK_FUNCTION(tree_fork_burn)
WORK_FUNCTION(tree_exec_burn)
WORK_FUNCTION(tree_grandchild_burn)

enum child_kind { CHILD_FORK, CHILD_EXEC, CHILD_PARENT, CHILD_EMPTY, CHILD_KINDS };

static const char *const child_names[] = {"fork", "exec", "parent", "empty"};

static void child_have_child(uint64_t ns)
{
	struct rusage usage;
	pid_t pid = fork();

	if (pid == 0) {
		tree_grandchild_burn(ns);
		_exit(0);
	}
	if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid)
		_exit(3);
	dprintf(STDOUT_FILENO, "child grandchild %d 0\n", pid);
}

static void child_run(enum child_kind kind, uint64_t ns, char **argv)
{
	char ms[24];

	switch (kind) {
	case CHILD_FORK:
		tree_fork_burn(ns);
		break;
	case CHILD_EXEC:
		snprintf(ms, sizeof(ms), "%lu", (unsigned long)(ns / WORK_MS));
		execl("/proc/self/exe", "tree-exec", "--exec", ms, (char *)NULL);
		perror(argv[0]);
		_exit(3);
	case CHILD_PARENT:
		child_have_child(ns);
		break;
	case CHILD_EMPTY:
	case CHILD_KINDS:
		break;
	}
	_exit(0);
}

/* The scheduler's account of a child; 0: none can be read. */
static uint64_t child_cpu_ns(pid_t pid)
{
	char path[40];
	unsigned long long ns = 0;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	fclose(file);
	return ns;
}

/* An ended child still uses its CPU until it is switched off: a wait4 at once would not count that.
 * While it runs, each tick of the scheduler adds to its account. */
static void child_await_end(pid_t pid)
{
	const struct timespec longer_than_tick = {.tv_nsec = 11 * WORK_MS};
	uint64_t before_ns;
	uint64_t cpu_ns = child_cpu_ns(pid);

	do {
		before_ns = cpu_ns;
		nanosleep(&longer_than_tick, NULL);
		cpu_ns = child_cpu_ns(pid);
	} while (cpu_ns != before_ns);
}

/* Waits for one child and tells its own and its children's CPU time, in microseconds. */
static int child_reap(void)
{
	struct rusage usage;
	siginfo_t ended;
	int status;

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) < 0)
		return -1;
	child_await_end(ended.si_pid);
	pid_t pid = wait4(ended.si_pid, &status, 0, &usage);
	if (pid < 0)
		return -1;
	printf("ended %d %ld\n", pid,
	       (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
		       usage.ru_stime.tv_usec);
	return status == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--exec") == 0) {
		tree_exec_burn(work_argument(argc, argv, 2, 0) * WORK_MS);
		return 0;
	}

	uint64_t count = work_argument(argc, argv, 1, 200);
	uint64_t ns = work_argument(argc, argv, 2, 5) * WORK_MS;
	int failed = 0;

	for (uint64_t i = 0; i < count; i++) {
		enum child_kind kind = (enum child_kind)(i % CHILD_KINDS);

		if (i >= AT_ONCE)
			failed |= child_reap();
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0)
			child_run(kind, ns, argv);
		if (pid < 0)
			return 3;
		printf("child %s %d\n", child_names[kind], pid);
	}
	for (uint64_t i = count < AT_ONCE ? count : AT_ONCE; i > 0; i--)
		failed |= child_reap();
	work_print("process_ns", work_process_ns());
	return failed == 0 ? 0 : 3;
}
