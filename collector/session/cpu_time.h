/* CPU time from the kernel's accounting of processes. */
#ifndef COLLECTOR_SESSION_CPU_TIME_H
#define COLLECTOR_SESSION_CPU_TIME_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* User and system time, ns. */
uint64_t cpu_time_ns(const struct rusage *usage);

/* CPU time of a running process so far, with its ended threads, ns; 0 when it is gone. */
uint64_t cpu_time_of_process_ns(pid_t pid);

/* CPU time of this process so far, all its threads together, ns. */
uint64_t cpu_time_of_self_ns(void);

/* CPU time of the calling thread so far, ns. */
uint64_t cpu_time_of_thread_ns(void);

/* CPU time that the hypervisor took from all CPUs since the machine's start, ns, as a file like
 * /proc/stat (proc_stat(5)) tells it in whole ticks; 0: none, or the file does not say. */
uint64_t cpu_time_stolen_ns(const char *path);

#endif
