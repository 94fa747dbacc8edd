/*
 * Where a process leaves the names of code that its just-in-time compiler makes, and who may have
 * left them there: what can be known only while it lives. Nothing is read of the names themselves.
 */
#ifndef COLLECTOR_PROC_PERF_MAP_H
#define COLLECTOR_PROC_PERF_MAP_H

#include <stdint.h>

#define PERF_MAP_NO_OWNER UINT32_MAX

/* Effective user of the process; PERF_MAP_NO_OWNER when it is gone. */
uint32_t perf_map_owner(uint32_t pid);

/* When the process was started, ns since 1970 (CLOCK_REALTIME), to the kernel's ticks; 0 when it is
 * gone. */
uint64_t perf_map_started(uint32_t pid);

/*
 * The file's path: /tmp/perf-PID.map, with the process's id in its own pid namespace. Where the
 * process has another root, that is put before it as it can be seen from here after the process's
 * end too (a directory, or what is mounted on one), or else as /proc/PID/root, which goes with the
 * process. From malloc; NULL: no memory.
 */
char *perf_map_path(uint32_t pid);

#endif
