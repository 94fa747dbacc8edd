#include "tools/cli/pager.h"

#include "tools/memory/xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the program is in a directory of PATH. */
static bool is_installed(const char *name)
{
	const char *path = getenv("PATH");
	bool is_found = false;
	for (const char *at = path; at && !is_found;) {
		size_t length = strcspn(at, ":");
		char *file = xalloc_printf("%.*s/%s", (int)length, at, name);
		is_found = length > 0 && access(file, X_OK) == 0;
		free(file);
		at = at[length] ? at + length + 1 : NULL;
	}
	return is_found;
}

const char *pager_choose(void)
{
	const char *command = getenv("TBREPORT_PAGER");
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = is_installed("less") ? "less" : "";
	return command[0] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* The pager reads the pipe, and has no other descriptor of ours. Its signals are as a new
 * program's. */
static pid_t spawn(const char *command, int input)
{
	char name[] = "sh";
	char option[] = "-c";
	char *text = xalloc_text(command);
	char *const arguments[] = {name, option, text, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t pid = 0;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	if (posix_spawn_file_actions_init(&actions) == 0 &&
	    posix_spawnattr_init(&attributes) == 0) {
		posix_spawnattr_setsigdefault(&attributes, &defaults);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		if (posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) != 0 ||
		    posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ) != 0)
			pid = 0;
		posix_spawnattr_destroy(&attributes);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(text);
	return pid;
}

/* What is written from now on goes to the pager: the text, and messages beside it. */
static void redirect(struct pager *pager, int pipe)
{
	pager->message = -1;
	if (isatty(STDERR_FILENO))
		pager->message = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (pager->message >= 0)
		dup2(pipe, STDERR_FILENO);
	dup2(pipe, STDOUT_FILENO);
}

/* Ctrl-C while the report is made ends it, as git ends: the pager shows what there is, and its user
 * leaves it. The pager is the only child. SA_RESETHAND: the signal ends the program then. */
static void end_by(int number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	raise(number);
}

static void watch_interrupt(void)
{
	struct sigaction before;
	struct sigaction action = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

void pager_begin(struct pager *pager, const char *command)
{
	int ends[2];
	*pager = (struct pager){.message = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	pager->pid = spawn(command, ends[0]);
	close(ends[0]);
	if (pager->pid > 0)
		redirect(pager, ends[1]);
	close(ends[1]); /* before an interrupt: only what it closes may keep the pipe open */
	if (pager->pid > 0)
		watch_interrupt();
}

int pager_end(struct pager *pager)
{
	int status = 0;
	if (pager->pid <= 0)
		return 0;
	signal(SIGINT, SIG_IGN); /* the text is whole: it is the pager's */
	/* The pipe's last writers: the text ends. */
	close(STDOUT_FILENO);
	if (pager->message >= 0) {
		dup2(pager->message, STDERR_FILENO);
		close(pager->message);
	}
	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
	/* As a shell tells (POSIX, Shell Command Language, 2.8.2). */
	bool is_exit = WIFEXITED(status);
	return is_exit && WEXITSTATUS(status) == 127   ? ENOENT
	       : is_exit && WEXITSTATUS(status) == 126 ? EACCES
						       : 0;
}
