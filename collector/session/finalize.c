#include "collector/session/finalize.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The path of tbconvert; just its name for a search in PATH. */
static void find_program(char *path, size_t size)
{
	static const char *const places[] = {"tbconvert", "../tools/tbconvert"};
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash) {
		slash[1] = '\0';
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			snprintf(path, size, "%s%s", self, places[i]);
			if (access(path, X_OK) == 0)
				return;
		}
	}
	snprintf(path, size, "tbconvert");
}

bool finalize_has_ended(pid_t pid, int *status)
{
	int code;
	pid_t ended = waitpid(pid, &code, WNOHANG);
	if (ended == pid)
		*status = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
	else if (ended < 0)
		*status = -1;
	return ended != 0;
}

pid_t finalize_start(const char *result, bool any_owner)
{
	char program[4200];
	char command[] = "finalize";
	char option[] = "--any-owner";
	char end_of_options[] = "--";
	char name[4096];
	pid_t pid;
	posix_spawnattr_t attributes;
	sigset_t none;
	find_program(program, sizeof(program));
	snprintf(name, sizeof(name), "%s", result);
	char *argv[6] = {program, command};
	size_t count = 2;
	if (any_owner)
		argv[count++] = option;
	argv[count++] = end_of_options;
	argv[count] = name;
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	int error = posix_spawnp(&pid, program, NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return error == 0 ? pid : -1;
}
