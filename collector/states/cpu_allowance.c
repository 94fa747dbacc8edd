#include "collector/states/cpu_allowance.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATHS_SIZE = 4096,
	LINE_SIZE = 2 * PATHS_SIZE,
	CPUS_MAX = 65536, /* more than any kernel has (CONFIG_NR_CPUS) */
	THOUSAND = 1000
};

#define NO_QUOTA UINT64_MAX

/* A place in a hierarchy of cgroups. */
struct group {
	char mount[PATHS_SIZE]; /* where the hierarchy's root is */
	char path[PATHS_SIZE];  /* below it: "/a/b" */
	bool is_first_version;
};

static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, (int)size, file) != NULL;
	if (file)
		fclose(file);
	return is_read;
}

/* A number at *at, which moves on behind it; 0: none, or it has no room. */
static uint64_t take_number(const char **at)
{
	char *end;
	errno = 0;
	long long value = strtoll(*at, &end, 10);
	*at = end;
	return errno == 0 && value > 0 ? (uint64_t)value : 0;
}

static uint64_t share(uint64_t quota_us, uint64_t period_us)
{
	bool is_sound = quota_us > 0 && period_us > 0 && quota_us < UINT64_MAX / THOUSAND;
	return is_sound ? quota_us * THOUSAND / period_us : NO_QUOTA;
}

/* "max 100000", or "50000 100000" */
static uint64_t read_quota_v2(const char *folder)
{
	char path[2 * PATHS_SIZE + 32];
	char line[128];
	snprintf(path, sizeof(path), "%s/cpu.max", folder);
	if (!read_line(path, line, sizeof(line)))
		return NO_QUOTA;
	const char *at = line;
	uint64_t quota_us = take_number(&at);
	return share(quota_us, take_number(&at));
}

/* Two files; a quota of -1: none. */
static uint64_t read_quota_v1(const char *folder)
{
	static const char *const names[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
	uint64_t values[2];
	for (size_t i = 0; i < 2; i++) {
		char path[2 * PATHS_SIZE + 32];
		char line[128];
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!read_line(path, line, sizeof(line)))
			return NO_QUOTA;
		const char *at = line;
		values[i] = take_number(&at);
	}
	return share(values[0], values[1]);
}

/* The least one from the group up. */
static uint64_t find_quota(struct group *group)
{
	char folder[2 * PATHS_SIZE];
	uint64_t least = NO_QUOTA;
	for (;;) {
		snprintf(folder, sizeof(folder), "%s%s", group->mount, group->path);
		uint64_t quota =
			group->is_first_version ? read_quota_v1(folder) : read_quota_v2(folder);
		least = quota < least ? quota : least;
		char *last = strrchr(group->path, '/');
		if (!last)
			return least;
		*last = '\0';
	}
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length) {
		bool begins = at == words || at[-1] == ',';
		if (begins && (at[length] == ',' || at[length] == '\0' || at[length] == '\n'))
			return true;
	}
	return false;
}

/* A line of mountinfo: ID PARENT DEVICE ROOT PLACE OPTIONS ... - TYPE SOURCE OPTIONS. Whether it is
 * the mount of the group's hierarchy; the group's path is then below it. */
static bool take_mount(const char *line, struct group *group)
{
	char root[PATHS_SIZE];
	char type[32];
	char options[512];
	const char *rest = strstr(line, " - ");
	if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, group->mount) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	if (group->is_first_version ? strcmp(type, "cgroup") != 0 || !has_word(options, "cpu")
				    : strcmp(type, "cgroup2") != 0)
		return false;
	/* In a container, the mount may begin at its own group. */
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(group->path, root, length) == 0)
		memmove(group->path, group->path + length, strlen(group->path + length) + 1);
	if (strncmp(group->path, "/..", 3) == 0)
		group->path[0] = '\0';
	return true;
}

static uint64_t quota_of(struct group *group, const char *mounts_path)
{
	char line[LINE_SIZE];
	uint64_t quota = NO_QUOTA;
	bool is_found = false;
	FILE *file = fopen(mounts_path, "re");
	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = take_mount(line, group);
	if (file)
		fclose(file);
	if (is_found)
		quota = find_quota(group);
	return quota;
}

/* A line of /proc/PID/cgroup: "0::/a/b" of version 2, "4:cpu,cpuacct:/a/b" of version 1. */
static bool take_group(char *line, struct group *group)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path || path[1] != '/')
		return false;
	*path = '\0';
	path[1 + strcspn(path + 1, "\n")] = '\0';
	group->is_first_version = controllers[1] != '\0';
	snprintf(group->path, sizeof(group->path), "%s",
		 strcmp(path + 1, "/") == 0 ? "" : path + 1);
	return !group->is_first_version || has_word(controllers + 1, "cpu");
}

uint64_t cpu_allowance_quota(const char *cgroup_path, const char *mounts_path)
{
	char line[LINE_SIZE];
	uint64_t least = NO_QUOTA;
	FILE *file = fopen(cgroup_path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct group group;
		uint64_t quota =
			take_group(line, &group) ? quota_of(&group, mounts_path) : NO_QUOTA;
		least = quota < least ? quota : least;
	}
	if (file)
		fclose(file);
	return least;
}

/* Adds a process's CPUs to a set of CPUS_MAX. */
static bool add_affinity(pid_t pid, cpu_set_t *all, cpu_set_t *one)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	CPU_ZERO_S(size, one);
	if (sched_getaffinity(pid, size, one) < 0)
		return false;
	CPU_OR_S(size, all, all, one);
	return true;
}

/* The same groups have the same quota, once. */
static uint64_t add_quotas(const pid_t *pids, size_t count)
{
	char(*groups)[LINE_SIZE] = count > 0 ? calloc(count, sizeof(*groups)) : NULL;
	uint64_t sum = 0;
	for (size_t i = 0; groups && sum != NO_QUOTA && i < count; i++) {
		char path[64];
		bool is_known = false;
		snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pids[i]);
		if (!read_line(path, groups[i], sizeof(groups[i])))
			continue; /* gone */
		for (size_t j = 0; j < i; j++)
			is_known = is_known || strcmp(groups[i], groups[j]) == 0;
		uint64_t quota = is_known ? 0 : cpu_allowance_quota(path, "/proc/self/mountinfo");
		sum = quota < NO_QUOTA - sum ? sum + quota : NO_QUOTA;
	}
	free(groups);
	return sum > 0 ? sum : NO_QUOTA;
}

uint64_t cpu_allowance(const pid_t *pids, size_t count)
{
	cpu_set_t *all = CPU_ALLOC(CPUS_MAX);
	cpu_set_t *one = CPU_ALLOC(CPUS_MAX);
	uint64_t allowed = 0;
	if (all && one) {
		CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), all);
		for (size_t i = 0; i < count; i++)
			add_affinity(pids[i], all, one);
		allowed = (uint64_t)CPU_COUNT_S(CPU_ALLOC_SIZE(CPUS_MAX), all) * THOUSAND;
	}
	CPU_FREE(all);
	CPU_FREE(one);
	uint64_t quota = allowed > 0 ? add_quotas(pids, count) : 0;
	return quota < allowed ? quota : allowed;
}
