#include "collector/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int regular_file_open(const char *path, struct stat *status)
{
	char link[64];
	/* A descriptor of the place; what is there is not opened by it (open(2), O_PATH). */
	int place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	int fd = -1;
	int error = ENOEXEC;
	if (fstat(place, status) == 0 && S_ISREG(status->st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		/* Not to wait for a lease to be given up (fcntl(2)). */
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		error = errno;
	}
	close(place);
	errno = error;
	return fd;
}
