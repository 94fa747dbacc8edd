/* CPU time from the kernel's accounting of processes. */
#ifndef COLLECTOR_COST_H
#define COLLECTOR_COST_H

#include <stdint.h>
#include <sys/resource.h>

/* User and system time, ns. */
uint64_t cpu_time_ns(const struct rusage *usage);

/* CPU time of the calling thread so far, ns. */
uint64_t cpu_time_of_thread_ns(void);

#endif
