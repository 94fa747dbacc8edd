#include "program/regular_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

bool path_leads_up(const char *path)
{
	while (path) {
		size_t length = strcspn(path, "/");
		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path = path[length] ? path + length + 1 : NULL;
	}
	return false;
}

/* Whether the kernel makes the file's bytes up as they are read. */
static bool is_made_up(int place)
{
	static const uint32_t types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,
					 TRACEFS_MAGIC,    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
					 SECURITYFS_MAGIC, SELINUX_MAGIC,      SMACK_MAGIC,
					 EFIVARFS_MAGIC,   BPF_FS_MAGIC,       PSTOREFS_MAGIC,
					 BINFMTFS_MAGIC};
	struct statfs system;
	if (fstatfs(place, &system) < 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)system.f_type == types[i])
			return true;
	return false;
}

int regular_file_open(const char *path, int flags, struct stat *status)
{
	char link[64];
	assert((flags & ~O_NOFOLLOW) == 0);
	/* A descriptor of the place alone: O_PATH does not open the file (open(2)). */
	int place = open(path, O_PATH | O_CLOEXEC | flags);
	if (place < 0)
		return -1;
	int fd = -1;
	int error = ENOEXEC;
	if (fstat(place, status) == 0 && S_ISREG(status->st_mode) && status->st_size > 0 &&
	    !is_made_up(place)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		/* Not to wait for a lease to be given up (fcntl(2)). */
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		error = errno;
	}
	close(place);
	errno = error;
	return fd;
}
