/*
 * How many logical CPUs processes may use at once: by their affinity (which holds cpusets too), and
 * by the quotas of their cgroups up to the root. Sources: sched_setaffinity(2), proc(5), the
 * kernel's Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
 */
#ifndef COLLECTOR_STATES_CPU_ALLOWANCE_H
#define COLLECTOR_STATES_CPU_ALLOWANCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In thousandths, of the processes together: the union of their CPUs; quotas of different cgroups
 * add up, and one process without a quota means none. 0: no process is there. */
uint64_t cpu_allowance(const pid_t *pids, size_t count);

/* The least quota of a process's cgroups, in thousandths of a CPU, UINT64_MAX: none. From
 * /proc/PID/cgroup, and /proc/self/mountinfo or a file like it. */
uint64_t cpu_allowance_quota(const char *cgroup_path, const char *mounts_path);

#endif
