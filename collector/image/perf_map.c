#include "collector/image/perf_map.h"

#include "collector/machine/clock.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static FILE *open_of(uint32_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return fopen(path, "re");
}

/* Ticks since the machine's start: field 22 of stat (proc(5)), counted behind the name, which may
 * hold anything. 0: not known. */
static uint64_t started_ticks(uint32_t pid)
{
	char line[4096];
	FILE *file = open_of(pid, "stat");
	if (!file)
		return 0;
	size_t length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	const char *at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t perf_map_started(uint32_t pid)
{
	uint64_t boot_ns = clock_read(CLOCK_BOOTTIME);
	uint64_t real_ns = clock_read(CLOCK_REALTIME);
	uint64_t ticks = started_ticks(pid);
	long per_second = sysconf(_SC_CLK_TCK);
	if (ticks == 0 || per_second <= 0)
		return 0;
	uint64_t since_boot = ticks / (uint64_t)per_second * NS_PER_S +
			      ticks % (uint64_t)per_second * (NS_PER_S / (uint64_t)per_second);
	return since_boot <= boot_ns && boot_ns <= real_ns ? real_ns - (boot_ns - since_boot) : 0;
}

/* The process's id in its own pid namespace: the last number of NSpid in its status file. */
static uint32_t namespace_pid(uint32_t pid)
{
	char line[256];
	uint32_t inner = pid;
	FILE *file = open_of(pid, "status");
	if (!file)
		return pid;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		char *last = strrchr(line, '\t');
		if (last)
			inner = (uint32_t)strtoul(last, NULL, 10);
		break;
	}
	fclose(file);
	return inner;
}

static bool is_same(const struct stat *status, const char *path)
{
	struct stat other;
	return stat(path, &other) == 0 && other.st_dev == status->st_dev &&
	       other.st_ino == status->st_ino;
}

/* Whether the line of mountinfo (proc(5)) is of the root's file system; then where it is mounted:
 * ID PARENT MAJOR:MINOR ROOT POINT ... Names with spaces are escaped, and left out. */
static bool is_mount_of(const char *line, const struct stat *root, char point[static PATH_MAX])
{
	const char *fields[6] = {line}; /* the line's, and the end of those */
	for (int i = 1; i < 6 && fields[i - 1]; i++) {
		const char *space = strchr(fields[i - 1], ' ');
		fields[i] = space ? space + 1 : NULL;
	}
	if (!fields[5] || fields[5] - fields[4] > PATH_MAX)
		return false;
	char *colon;
	bool is_device = strtoul(fields[2], &colon, 10) == major(root->st_dev) && *colon == ':' &&
			 strtoul(colon + 1, NULL, 10) == minor(root->st_dev);
	size_t length = (size_t)(fields[5] - fields[4] - 1);
	if (!is_device || memchr(fields[4], '\\', length))
		return false;
	memcpy(point, fields[4], length);
	point[length] = '\0';
	return is_same(root, point);
}

/* Finds a path from here to the process's root, which differs from ours. */
static bool find_root(const char *theirs, const struct stat *root, char place[static PATH_MAX])
{
	enum { LINE_MAX_SIZE = 3 * PATH_MAX, MOUNTS_MAX = 100000 };
	bool found = false;
	ssize_t length = readlink(theirs, place, PATH_MAX - 1);
	if (length > 0) {
		place[length] = '\0';
		if (is_same(root, place))
			return true;
	}
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = malloc(LINE_MAX_SIZE);
	for (int i = 0;
	     i < MOUNTS_MAX && file && line && !found && fgets(line, LINE_MAX_SIZE, file); i++)
		found = is_mount_of(line, root, place);
	free(line);
	if (file)
		fclose(file);
	return found;
}

char *perf_map_path(uint32_t pid)
{
	char theirs[64];
	char place[PATH_MAX];
	char *path = NULL;
	struct stat root;
	const char *before = "";
	snprintf(theirs, sizeof(theirs), "/proc/%u/root", pid);
	if (stat(theirs, &root) == 0 && !is_same(&root, "/"))
		before = find_root(theirs, &root, place) ? place : theirs;
	if (asprintf(&path, "%s/tmp/perf-%u.map", before, namespace_pid(pid)) < 0)
		return NULL;
	return path;
}
