/*
 * The file for the names of a process's just-in-time compiled code, and the start of its possible
 * writer: facts available only while the process lives. The names themselves are not read here.
 */
#ifndef COLLECTOR_IMAGE_PERF_MAP_H
#define COLLECTOR_IMAGE_PERF_MAP_H

#include <stdint.h>

/* Start time of the process, ns since 1970 (CLOCK_REALTIME), to the kernel's ticks; 0 when it is
 * gone. */
uint64_t perf_map_started(uint32_t pid);

/*
 * The file's path: /tmp/perf-PID.map, with the process's id in its own pid namespace. A different
 * root of the process is put in front: by a path from here that outlives the process (a directory,
 * or a mount on one), or else as /proc/PID/root, gone with the process. From malloc; NULL: no
 * memory.
 */
char *perf_map_path(uint32_t pid);

#endif
