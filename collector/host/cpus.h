/* The online CPUs, and lists of CPUs as the kernel writes them ("0-3,8"). */
#ifndef COLLECTOR_HOST_CPUS_H
#define COLLECTOR_HOST_CPUS_H

#include <stddef.h>
#include <stdint.h>

struct cpus {
	uint32_t *numbers; /* ascending */
	size_t count;
	size_t capacity;
};

/* Parses a list. 0, or -1 with errno EINVAL or ENOMEM. */
int cpus_parse(const char *list, struct cpus *cpus);

/* Reads a list from a file. 0, or -1 with errno. */
int cpus_read(const char *path, struct cpus *cpus);

/* Reads the CPUs with a line in a file like /proc/stat (proc_stat(5)): the online ones
 * (fs/proc/stat.c). 0, or -1 with errno. */
int cpus_read_stat(const char *path, struct cpus *cpus);

/* The online CPUs, even if /sys is not mounted. 0, or -1 with errno. */
int cpus_online(struct cpus *cpus);

void cpus_finish(struct cpus *cpus);

#endif
