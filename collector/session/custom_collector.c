#include "collector/session/custom_collector.h"

#include "collector/options/options.h"
#include "collector/result/result.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUE_MAX = 4096, PID_SIZE = sizeof("2147483647,") - 1, STAT_MAX = 512 };

_Static_assert(OPTIONS_PIDS_MAX *PID_SIZE < VALUE_MAX, "a value has room for all processes");

/* One request may come twice at once: timeout(1) signals the process and its group. */
#define ONE_REQUEST_NS 200000000ull

/* What a step is told; each under the names of both generations of VTune. */
enum { VARIABLE_COMMAND, VARIABLE_DIRECTORY, VARIABLE_HOST, VARIABLE_PID, VARIABLES };

static const char *const names[VARIABLES][2] = {
	[VARIABLE_COMMAND] = {"AMPLXE_COLLECT_CMD", "VTUNE_COLLECT_CMD"},
	[VARIABLE_DIRECTORY] = {"AMPLXE_DATA_DIR", "VTUNE_DATA_DIR"},
	[VARIABLE_HOST] = {"AMPLXE_HOSTNAME", "VTUNE_HOSTNAME"},
	[VARIABLE_PID] = {"AMPLXE_COLLECT_PID", "VTUNE_COLLECT_PID"},
};

const char *custom_collector_word(enum custom_step step)
{
	static const char *const words[] = {
		[CUSTOM_START] = "start",
		[CUSTOM_STOP] = "stop",
		[CUSTOM_PAUSE] = "pause",
		[CUSTOM_RESUME] = "resume",
	};
	return words[step];
}

/* The name that leads to the directory now, or -1 with errno. */
static int name_directory(int directory, char value[VALUE_MAX])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
	ssize_t length = readlink(link, value, VALUE_MAX - 1);
	value[length > 0 ? length : 0] = '\0';
	return length > 0 ? 0 : -1;
}

static void list_pids(const struct custom_place *place, char value[VALUE_MAX])
{
	size_t used = 0;
	value[0] = '\0';
	assert(place->pid_count <= OPTIONS_PIDS_MAX);
	for (size_t i = 0; i < place->pid_count; i++)
		used += (size_t)snprintf(value + used, VALUE_MAX - used, "%s%d", i > 0 ? "," : "",
					 (int)place->pids[i]);
}

static int fill_values(enum custom_step step, const struct custom_place *place,
		       char values[VARIABLES][VALUE_MAX])
{
	struct utsname host;
	snprintf(values[VARIABLE_COMMAND], VALUE_MAX, "%s", custom_collector_word(step));
	list_pids(place, values[VARIABLE_PID]);
	if (uname(&host) < 0)
		return -1;
	snprintf(values[VARIABLE_HOST], VALUE_MAX, "%s", host.nodename);
	return name_directory(place->directory, values[VARIABLE_DIRECTORY]);
}

static bool is_ours(const char *entry)
{
	size_t length = strcspn(entry, "=");
	for (size_t i = 0; i < VARIABLES; i++)
		for (size_t twin = 0; twin < 2; twin++)
			if (strlen(names[i][twin]) == length &&
			    memcmp(entry, names[i][twin], length) == 0)
				return true;
	return false;
}

static void free_environment(char **environment)
{
	/* The first are made here; the others are borrowed. */
	for (size_t i = 0; environment && i < 2 * (size_t)VARIABLES; i++)
		free(environment[i]);
	free(environment);
}

/* Ours with the step's variables; NULL with errno. */
static char **make_environment(enum custom_step step, const struct custom_place *place)
{
	char values[VARIABLES][VALUE_MAX];
	size_t count = 0;
	while (environ[count])
		count++;
	if (fill_values(step, place, values) < 0)
		return NULL;
	char **made = calloc(count + 2 * (size_t)VARIABLES + 1, sizeof(*made));
	if (!made)
		return NULL;
	size_t used = 0;
	for (size_t i = 0; i < 2 * (size_t)VARIABLES; i++) {
		if (asprintf(&made[used++], "%s=%s", names[i / 2][i % 2], values[i / 2]) >= 0)
			continue;
		made[used - 1] = NULL;
		free_environment(made);
		errno = ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (!is_ours(environ[i]))
			made[used++] = environ[i];
	return made;
}

/* Its output goes to the log: it must not mix with the program's. Nobody reads from the terminal.
 */
static int set_files(posix_spawn_file_actions_t *actions, int log)
{
	int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(actions, log >= 0 ? log : STDIN_FILENO,
							 STDOUT_FILENO);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
	if (error == 0)
		error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	return error;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t mask;
	sigset_t defaults;
	sigemptyset(&mask);
	sigemptyset(&defaults);
	/* Ignored by us (signals.c), and ignored signals stay so across an exec. */
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_setsigmask(attributes, &mask);
	posix_spawnattr_setsigdefault(attributes, &defaults);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							    POSIX_SPAWN_SETSID);
}

/* Returns 0, or the error. */
static int spawn(const char *command, char **environment, int log, pid_t *pid)
{
	char shell[] = "/bin/sh";
	char option[] = "-c";
	char *text = strdup(command);
	char *argv[] = {shell, option, text, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	if (!text)
		return ENOMEM;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	int error = set_files(&actions, log);
	if (error == 0)
		error = set_attributes(&attributes);
	if (error == 0)
		error = posix_spawn(pid, shell, &actions, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(text);
	return error;
}

int custom_collector_run(struct custom_collector *collector, enum custom_step step,
			 const struct custom_place *place)
{
	assert(collector->command && collector->running == 0);
	pid_t pid = 0;
	char **environment = make_environment(step, place);
	if (!environment)
		return -1;
	/* Without a log, its words are lost, not its data. */
	int log = openat(place->directory, RESULT_CUSTOM_LOG,
			 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int error = spawn(collector->command, environment, log, &pid);
	if (log >= 0)
		close(log);
	free_environment(environment);
	errno = error;
	if (error != 0)
		return -1;
	collector->running = pid;
	collector->asked_ns = 0;
	return 0;
}

bool custom_collector_has_ended(struct custom_collector *collector, enum custom_step step,
				struct custom_end *end)
{
	siginfo_t ended = {0};
	pid_t pid = collector->running;
	/* What start left behind is ended by its group's id, so the leader keeps the id. */
	int keep = step == CUSTOM_START ? WNOWAIT : 0;
	assert(pid > 0);
	*end = (struct custom_end){.status = -1};
	int got = waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | keep);
	if (got == 0 && ended.si_pid == 0)
		return false;
	if (got == 0)
		*end = (struct custom_end){ended.si_code != CLD_EXITED, ended.si_status};
	collector->running = 0;
	if (got == 0 && step == CUSTOM_START)
		collector->first = pid;
	return true;
}

void custom_collector_signal(const struct custom_collector *collector, int number)
{
	if (collector->running > 0)
		kill(-collector->running, number);
}

void custom_collector_ask(struct custom_collector *collector, int number, uint64_t now_ns)
{
	if (collector->asked_ns == 0)
		collector->asked_ns = now_ns;
	bool is_deaf = now_ns - collector->asked_ns >= ONE_REQUEST_NS;
	custom_collector_signal(collector, is_deaf ? SIGKILL : number);
}

void custom_collector_ask_left(const struct custom_collector *collector)
{
	if (collector->first > 0)
		kill(-collector->first, SIGTERM);
}

/* By proc_pid_stat(5): PID (NAME) STATE PPID PGRP ... */
static bool runs_in_group(int proc, const char *pid, pid_t group)
{
	char path[NAME_MAX + sizeof("/stat")];
	char text[STAT_MAX];
	char *after_ppid;
	snprintf(path, sizeof(path), "%s/stat", pid);
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	const char *rest = strrchr(text, ')');
	if (!rest || rest[1] != ' ' || rest[2] == '\0' || rest[2] == 'Z' || rest[2] == 'X')
		return false;
	strtol(rest + 3, &after_ppid, 10);
	return strtol(after_ppid, NULL, 10) == group;
}

/* By kill(2), zombies would be there, and not everybody's init waits for them. */
bool custom_collector_has_left(const struct custom_collector *collector)
{
	bool is_found = false;
	DIR *proc = collector->first > 0 ? opendir("/proc") : NULL;
	const struct dirent *entry;
	while (proc && !is_found && (entry = readdir(proc)))
		is_found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			   runs_in_group(dirfd(proc), entry->d_name, collector->first);
	if (proc)
		closedir(proc);
	return is_found;
}

void custom_collector_end(struct custom_collector *collector)
{
	if (collector->first <= 0)
		return;
	kill(-collector->first, SIGKILL);
	waitpid(collector->first, NULL, 0);
	collector->first = 0;
}

void custom_collector_tidy(int directory)
{
	struct stat status;
	if (fstatat(directory, RESULT_CUSTOM_LOG, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    status.st_size == 0)
		unlinkat(directory, RESULT_CUSTOM_LOG, 0);
}
