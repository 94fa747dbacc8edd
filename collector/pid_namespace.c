#include "collector/pid_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pid_namespace_check_status(const char *status, struct failure *failure)
{
	static const char key[] = "\nNSpid:";
	const char *line = strstr(status, key);
	if (line == NULL)
		return 0; /* a kernel without namespaces (CONFIG_PID_NS) */
	char *end;
	long there = strtol(line + sizeof(key) - 1, &end, 10);
	const char *more = end + strspn(end, " \t");
	if (*more == '\n' || *more == '\0')
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "/proc is another pid namespace's: it calls tbcollect process %ld, here "
			   "it "
			   "is %ld, and others would be mixed up; mount this one's (unshare "
			   "--mount-proc, mount -t proc proc /proc), or run tbcollect outside",
			   there, (long)getpid());
}

int pid_namespace_check(struct failure *failure)
{
	char status[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, status, sizeof(status) - 1) : -1;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (got < 0 && (error == ENOENT || error == ENOTDIR))
		return failure_set(failure, FAILURE_EXIT,
				   "/proc is not there, or of a pid namespace that this process is "
				   "not "
				   "in; mount this one's: mount -t proc proc /proc");
	if (got < 0)
		return failure_set_error(failure, error, "cannot read /proc/self/status");
	status[got] = '\0';
	return pid_namespace_check_status(status, failure);
}
