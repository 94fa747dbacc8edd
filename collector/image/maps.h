/* Reads the mappings of a running process from /proc/PID/maps (proc_pid_maps(5)). */
#ifndef COLLECTOR_IMAGE_MAPS_H
#define COLLECTOR_IMAGE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct asker;

struct maps_entry {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t inode;
	uint32_t device_major;
	uint32_t device_minor;
	bool executable;
	bool writable;
	const char *path; /* "" for anonymous memory; octal escapes are undone */
};

/* Parses one line, changing it; path points into it. false: not a line of maps. */
bool maps_parse(char *line, struct maps_entry *entry);

/* Calls each entry, in order of address; the callback returns false to stop. Entries beyond 64 MB
 * of text are left out. 0, or -1 with errno; ETIMEDOUT: the asker gave the question up (NULL: we
 * ask the kernel). */
typedef bool maps_callback(const struct maps_entry *entry, void *user);
int maps_read(struct asker *asker, pid_t pid, maps_callback *callback, void *user);

#endif
