#include "collector/message/failure.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

__attribute__((format(printf, 3, 0))) static void fill_in(struct failure *failure, int exit_status,
							  const char *format, va_list args)
{
	failure->exit_status = exit_status;
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	for (char *c = failure->text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
}

int failure_set(struct failure *failure, int exit_status, const char *format, ...)
{
	va_list args;
	assert(exit_status != 0); /* 0: nothing has failed */
	if (failure->exit_status != 0)
		return -1;
	va_start(args, format);
	fill_in(failure, exit_status, format, args);
	va_end(args);
	return -1;
}

/* The remedy for the limit met by a call; "" where no limit is known. */
static void advise(int error, char *text, size_t size)
{
	struct rlimit limit = {0};
	text[0] = '\0';
	if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
		snprintf(text, size,
			 limit.rlim_cur < limit.rlim_max
				 ? "; the limit is %llu, raise it with ulimit -Sn"
				 : "; the limit is %llu, raise it with ulimit -Hn, or in "
				   "/etc/security/limits.conf",
			 (unsigned long long)limit.rlim_cur);
	else if (error == ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 &&
		 limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, size, "; the limit of address space is %llu KB (ulimit -v)",
			 (unsigned long long)limit.rlim_cur / 1024);
	else if (error == ENFILE)
		snprintf(text, size, "; raise it with sudo sysctl fs.file-max");
	else if (error == EAGAIN)
		snprintf(text, size,
			 "; a limit of processes is met: ulimit -u, or pids.max of the cgroup");
	else if (error == ENOSYS)
		snprintf(text, size, "; is there a seccomp filter in the way, as in containers?");
}

int failure_set_error(struct failure *failure, int error, const char *format, ...)
{
	char advice[128];
	va_list args;
	if (failure->exit_status != 0)
		return -1;
	va_start(args, format);
	fill_in(failure, FAILURE_EXIT, format, args);
	va_end(args);
	size_t length = strlen(failure->text);
	advise(error, advice, sizeof(advice));
	snprintf(failure->text + length, sizeof(failure->text) - length, ": %s%s",
		 error == ENOMEM ? "out of memory" : strerror(error), advice);
	return -1;
}
