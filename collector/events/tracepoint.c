#include "collector/events/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static const char *const folders[] = {"/sys/kernel/tracing/events",
				      "/sys/kernel/debug/tracing/events"};

enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };

/* A mount without a place, gone when its descriptor is closed. -1 with errno. */
static int mount_apart(void)
{
	int mount = -1;
	int context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	int error = errno;
	close(context);
	errno = error;
	return mount;
}

static int open_apart(void)
{
	int mount = mount_apart();
	if (mount < 0)
		return -1;
	int events = openat(mount, "events", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int error = errno;
	close(mount); /* kept by the folder in it */
	errno = error;
	return events;
}

/* The folder of all tracepoints. -1 with errno. */
static int open_events(void)
{
	for (size_t i = 0; i < FOLDERS; i++) {
		int events = open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (events >= 0 || errno == EACCES)
			return events;
	}
	return open_apart();
}

static enum tracepoint_answer explain_errno(void)
{
	return errno == EACCES || errno == EPERM ? TRACEPOINT_FORBIDDEN : TRACEPOINT_UNREAD;
}

static enum tracepoint_answer read_id(int events, const char *path, uint64_t *id)
{
	char line[32] = "";
	char *end;
	int file = openat(events, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno == ENOENT ? TRACEPOINT_UNKNOWN : explain_errno();
	ssize_t size = read(file, line, sizeof(line) - 1);
	int error = errno;
	close(file);
	errno = error;
	uint64_t number = strtoull(line, &end, 10);
	if (size <= 0 || end == line)
		return size < 0 ? TRACEPOINT_UNREAD : TRACEPOINT_UNKNOWN;
	*id = number;
	return TRACEPOINT_FOUND;
}

enum tracepoint_answer tracepoint_find(const char *system, const char *name, uint64_t *id)
{
	char path[256];
	int length = snprintf(path, sizeof(path), "%s/%s/id", system, name);
	if (!system[0] || !name[0] || strpbrk(system, "/.") || strpbrk(name, "/.") ||
	    length >= (int)sizeof(path))
		return TRACEPOINT_UNKNOWN;
	int events = open_events();
	if (events < 0)
		return errno == ENODEV ? TRACEPOINT_UNKNOWN : explain_errno();
	enum tracepoint_answer answer = read_id(events, path, id);
	int error = errno;
	close(events);
	errno = error;
	return answer;
}
