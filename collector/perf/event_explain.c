#include "collector/perf/event.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number behind a key of a /proc status file or of a one-number file; fallback if absent. */
static long read_number(const char *path, const char *key, int base, long fallback)
{
	char line[256];
	long value = fallback;
	FILE *file = fopen(path, "re");
	if (!file)
		return fallback;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0) {
			value = strtol(line + strlen(key), NULL, base);
			break;
		}
	}
	fclose(file);
	return value;
}

static bool have_capability(void)
{
	/* CAP_SYS_ADMIN 21 and CAP_PERFMON 38, linux/capability.h */
	unsigned long mask = (unsigned long)read_number("/proc/self/status", "CapEff:", 16, 0);
	return mask & (1ul << 21) || mask & (1ul << 38);
}

static bool other_user(pid_t pid)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return pid > 0 && stat(path, &status) == 0 && status.st_uid != geteuid();
}

static int explain_permission(struct failure *failure, int error, pid_t pid)
{
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", "", 10, 2);
	char who[64] = "this program";
	if (pid > 0)
		snprintf(who, sizeof(who), "process %d", (int)pid);
	if (read_number("/proc/self/status", "Seccomp:", 10, 0) == 2 &&
	    (have_capability() || paranoid <= 2) && !other_user(pid))
		return failure_set(failure, FAILURE_EXIT,
				   "cannot sample %s: a seccomp filter (as in containers) blocks "
				   "perf_event_open; allow it, e.g. docker run --cap-add PERFMON "
				   "--security-opt seccomp=unconfined",
				   who);
	if (other_user(pid) && !have_capability())
		return failure_set(failure, FAILURE_EXIT,
				   "cannot sample %s: it belongs to another user and CAP_PERFMON "
				   "is missing; run as that user or as root, or: sudo setcap "
				   "cap_perfmon,cap_sys_ptrace=ep tbcollect",
				   who);
	if (!have_capability() && paranoid > 2)
		return failure_set(
			failure, FAILURE_EXIT,
			"cannot sample %s: kernel.perf_event_paranoid is %ld, which forbids "
			"perf_event to ordinary users; sudo sysctl "
			"kernel.perf_event_paranoid=2, or: sudo setcap cap_perfmon=ep tbcollect",
			who, paranoid);
	return failure_set(
		failure, FAILURE_EXIT,
		"cannot sample %s: %s (kernel.perf_event_paranoid is %ld, CAP_PERFMON %s); "
		"--kernel needs kernel.perf_event_paranoid at 1 or lower, or: sudo setcap "
		"cap_perfmon=ep tbcollect; a process that is setuid or not dumpable needs "
		"CAP_SYS_PTRACE too",
		who, strerror(error), paranoid, have_capability() ? "is there" : "is missing");
}

int event_explain(struct failure *failure, int error, pid_t pid)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return explain_permission(failure, error, pid);
	case ESRCH:
		return failure_set(failure, FAILURE_EXIT,
				   "cannot attach to process %d: no such process; see ps -e for "
				   "those that run",
				   (int)pid);
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
		return failure_set(failure, FAILURE_EXIT,
				   "cannot sample: %s: this kernel has no perf_event task clock; "
				   "it needs CONFIG_PERF_EVENTS, and no seccomp filter in the way",
				   strerror(error));
	default:
		return failure_set_error(failure, error, "cannot open the sampling event");
	}
}

int event_explain_added(struct failure *failure, int error, const struct event_choice *choice)
{
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", "", 10, 2);
	if (choice->is_in_kernel && choice->user_only)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot count %s in user mode: it happens in the kernel; leave "
				   "the u out",
				   choice->name);
	if (error == EACCES || error == EPERM)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot count %s: kernel.perf_event_paranoid is %ld, and what "
				   "happens in the kernel needs 1 or lower, tracepoints -1; run as "
				   "root, or: sudo setcap cap_perfmon=ep tbcollect",
				   choice->name, paranoid);
	if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot count %s: this computer has no counter for it (%s), as "
				   "most virtual machines; software events and tracepoints need "
				   "none",
				   choice->name, strerror(error));
	return failure_set_error(failure, error, "cannot count %s", choice->name);
}
