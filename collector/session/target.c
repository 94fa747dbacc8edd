#include "collector/session/target.h"

#include "collector/session/cpu_time.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_child(int go_fd, int error_fd, char **argv, char **environment,
		      const struct signals *signals)
{
	char go;
	ssize_t got;
	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(FAILURE_EXIT_NOT_FOUND); /* cancelled */
	signals_restore(signals);
	if (environment)
		environ = environment;
	execvp(argv[0], argv);
	int error = errno;
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(FAILURE_EXIT_CANNOT_EXECUTE);
	_exit(error == ENOENT ? FAILURE_EXIT_NOT_FOUND : FAILURE_EXIT_CANNOT_EXECUTE);
}

int target_fork(struct target *target, char **argv, char **environment,
		const struct signals *signals, struct failure *failure)
{
	int go[2];
	int error[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return failure_set_error(failure, errno, "cannot make a pipe");
	if (pipe2(error, O_CLOEXEC) < 0) {
		int pipe_error = errno;
		close(go[0]);
		close(go[1]);
		return failure_set_error(failure, pipe_error, "cannot make a pipe");
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		run_child(go[0], error[1], argv, environment, signals);
	}
	int fork_error = errno;
	close(go[0]);
	close(error[1]);
	*target = (struct target){.pid = pid, .go_fd = go[1], .error_fd = error[0]};
	if (pid > 0)
		return 0;
	close(go[1]);
	close(error[0]);
	*target = (struct target){.go_fd = -1, .error_fd = -1};
	return failure_set_error(failure, fork_error, "cannot fork");
}

int target_start(struct target *target, const char *program, struct failure *failure)
{
	int error = 0;
	ssize_t got;
	assert(target->pid > 0 && target->go_fd >= 0);
	ssize_t written = write(target->go_fd, "", 1);
	close(target->go_fd);
	target->go_fd = -1;
	do
		got = written == 1 ? read(target->error_fd, &error, sizeof(error)) : -1;
	while (got < 0 && errno == EINTR);
	close(target->error_fd);
	target->error_fd = -1;
	if (got == 0)
		return 0;
	target_check(target, true);
	if (got != sizeof(error))
		return failure_set(failure, FAILURE_EXIT, "cannot start %s: the child was killed",
				   program);
	if (error == ENOENT && strchr(program, '/') && access(program, F_OK) == 0)
		return failure_set(failure, FAILURE_EXIT_NOT_FOUND,
				   "cannot start %s: its interpreter is missing; check its first "
				   "line, or the loader that it names",
				   program);
	if (program[0] == '\0')
		return failure_set(failure, FAILURE_EXIT_NOT_FOUND,
				   "cannot start a program: its name is empty; name one behind --");
	if (error == ENOENT)
		return failure_set(failure, FAILURE_EXIT_NOT_FOUND,
				   "cannot start %s: no such program; check the name and PATH",
				   program);
	return failure_set(failure, FAILURE_EXIT_CANNOT_EXECUTE,
			   "cannot start %s: %s; check that it is an executable program", program,
			   strerror(error));
}

void target_cancel(struct target *target)
{
	if (target->pid <= 0 || target->go_fd < 0)
		return;
	close(target->go_fd);
	close(target->error_fd);
	target->go_fd = target->error_fd = -1;
	target_check(target, true);
}

void target_check(struct target *target, bool wait)
{
	int status;
	pid_t pid;
	struct rusage usage;
	if (target->ended || target->pid <= 0)
		return;
	do
		pid = wait4(target->pid, &status, wait ? 0 : WNOHANG, &usage);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	target->ended = true;
	target->exit_status = FAILURE_EXIT;
	if (pid > 0)
		target->cpu_ns = cpu_time_ns(&usage);
	if (pid > 0 && WIFEXITED(status))
		target->exit_status = WEXITSTATUS(status);
	else if (pid > 0 && WIFSIGNALED(status))
		target->exit_status = 128 + WTERMSIG(status);
}
