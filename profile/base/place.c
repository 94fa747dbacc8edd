#include "profile/base/place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* path_resolution(7): as many as the kernel follows. */
enum { LINKS_MAX = 40 };

static bool is_trusted(const struct stat *status)
{
	return status->st_uid == geteuid() || status->st_uid == 0;
}

enum profile_place profile_place_of(const char *path)
{
	struct stat status;
	if (lstat(path, &status) < 0)
		return PROFILE_PLACE_MISSING;
	if (S_ISLNK(status.st_mode)) {
		if (!is_trusted(&status))
			return PROFILE_PLACE_LINK;
		if (stat(path, &status) < 0)
			return PROFILE_PLACE_MISSING;
	}
	return is_trusted(&status) ? PROFILE_PLACE_OURS : PROFILE_PLACE_OTHERS;
}

/* The target of an open link, behind its own path up to the last slash; NULL with errno. */
static char *target_of(int link, const char *path)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(link, "", target, sizeof(target));
	const char *slash = strrchr(path, '/');
	if (size <= 0 || size == sizeof(target)) {
		errno = size < 0 ? errno : ENAMETOOLONG;
		return NULL;
	}
	int folder = target[0] == '/' || !slash ? 0 : (int)(slash + 1 - path);
	char *next;
	return asprintf(&next, "%.*s%.*s", folder, path, (int)size, target) < 0 ? NULL : next;
}

/* One step: a descriptor of the file or directory at path, or -1: *next is the target of a link
 * there, NULL if the link may not be followed or nothing is there. */
static int step(const char *path, enum profile_place *place, char **next)
{
	struct stat status;
	*next = NULL;
	*place = PROFILE_PLACE_MISSING;
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) < 0)
		status = (struct stat){.st_uid = (uid_t)-1};
	*place = is_trusted(&status) ? PROFILE_PLACE_OURS : PROFILE_PLACE_OTHERS;
	if (S_ISDIR(status.st_mode) && *place == PROFILE_PLACE_OURS)
		return fd;
	if (S_ISLNK(status.st_mode)) {
		bool follow = *place == PROFILE_PLACE_OURS;
		*place = follow ? PROFILE_PLACE_MISSING : PROFILE_PLACE_LINK;
		*next = follow ? target_of(fd, path) : NULL;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

int profile_place_open(const char *path, enum profile_place *place)
{
	char *next;
	int fd = step(path, place, &next);
	for (int i = 0; fd < 0 && next; i++) {
		char *here = next;
		errno = ELOOP;
		if (i < LINKS_MAX)
			fd = step(here, place, &next);
		else
			next = NULL;
		free(here);
	}
	return fd;
}

void profile_place_file(int folder, const char *name, char *path, size_t size)
{
	size_t length = (size_t)snprintf(path, size, "/proc/self/fd/%d/%s", folder, name);

	assert(length > 0 && length < size);
	(void)length; /* used by the assertion alone */
}
