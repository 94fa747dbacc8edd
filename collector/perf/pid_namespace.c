#include "collector/perf/pid_namespace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line can consist of groups: some times the kernel's most (NGROUPS_MAX). */
enum { PARTS_MAX = 16384 };

static int check_numbers(const char *numbers, struct failure *failure)
{
	char *end;
	long there = strtol(numbers, &end, 10);
	const char *more = end + strspn(end, " \t");
	if (*more == '\n' || *more == '\0')
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "/proc belongs to another pid namespace: tbcollect there is "
			   "process %ld, here %ld, so processes would be mixed up; mount this "
			   "namespace's /proc (unshare --mount-proc, mount -t proc proc /proc), or "
			   "run tbcollect outside",
			   there, (long)getpid());
}

/* PROC_PID_INIT_INO, include/linux/proc_ns.h. */
#define FIRST_INODE 0xeffffffcu

int pid_namespace_check_status(FILE *status, struct failure *failure)
{
	static const char key[] = "NSpid:";
	char part[256];
	bool begins_line = true;
	for (int i = 0; i < PARTS_MAX && fgets(part, sizeof(part), status); i++) {
		if (begins_line && strncmp(part, key, sizeof(key) - 1) == 0)
			return check_numbers(part + sizeof(key) - 1, failure);
		begins_line = strchr(part, '\n') != NULL;
	}
	if (ferror(status))
		return failure_set_error(failure, errno, "cannot read /proc/self/status");
	return 0; /* a kernel without namespaces (CONFIG_PID_NS) */
}

bool pid_namespace_is_first(void)
{
	struct stat status;
	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == FIRST_INODE;
}

int pid_namespace_check(struct failure *failure)
{
	FILE *status = fopen("/proc/self/status", "re");
	if (!status && (errno == ENOENT || errno == ENOTDIR))
		return failure_set(failure, FAILURE_EXIT,
				   "/proc is not mounted, or belongs to a pid namespace without "
				   "this process; mount this namespace's: mount -t proc proc "
				   "/proc");
	if (!status)
		return failure_set_error(failure, errno, "cannot read /proc/self/status");
	int result = pid_namespace_check_status(status, failure);
	fclose(status);
	return result;
}
