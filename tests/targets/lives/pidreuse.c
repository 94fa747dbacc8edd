/*
 * pidreuse [MS]: two children, one after the other, with the same pid (clone3(2), set_tid; needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN). The first burns in reuse_first, the second, which is
 * another program by then, in reuse_second for twice as long.
 */
#include "tests/targets/work.h"
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

WORK_FUNCTION(reuse_first)
WORK_FUNCTION(reuse_second)

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = pid == 0 ? 0 : (uint64_t)(uintptr_t)&pid,
				  .set_tid_size = pid == 0 ? 0 : 1};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--second") == 0) {
		reuse_second(work_argument(argc, argv, 2, 0) * WORK_MS);
		return 0;
	}

	uint64_t ms = work_argument(argc, argv, 1, 300);
	char twice[24];
	pid_t first = fork_as(0);
	pid_t second;

	if (first == 0) {
		reuse_first(ms * WORK_MS);
		_exit(0);
	}
	if (first < 0 || waitpid(first, NULL, 0) != first)
		return 3;
	second = fork_as(first);
	if (second == 0) {
		snprintf(twice, sizeof(twice), "%lu", (unsigned long)(2 * ms));
		execl("/proc/self/exe", "pidreuse-second", "--second", twice, (char *)NULL);
		_exit(3);
	}
	if (second < 0) {
		perror("pidreuse: clone3");
		return 4;
	}
	if (waitpid(second, NULL, 0) != second)
		return 3;
	work_print("pid", (uint64_t)first);
	work_print("same", first == second);
	return 0;
}
