#include "tools/convert/whole_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum { STEP_MAX = 1 << 30 };

static int copy(int from, int to, uint64_t bytes)
{
	while (bytes > 0) {
		ssize_t done =
			sendfile(to, from, NULL, bytes < STEP_MAX ? (size_t)bytes : STEP_MAX);
		if (done < 0)
			return errno;
		if (done == 0)
			return EIO; /* somebody made it shorter */
		bytes -= (uint64_t)done;
	}
	return 0;
}

int whole_part_copy(const char *path, const char *part, uint64_t bytes)
{
	int from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (from < 0)
		return errno;
	int to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error = to < 0 ? errno : copy(from, to, bytes);
	close(from);
	if (to >= 0 && close(to) != 0 && !error)
		error = errno;
	if (to >= 0 && error)
		unlink(part);
	return error;
}
