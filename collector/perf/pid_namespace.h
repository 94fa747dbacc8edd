/* Whether /proc numbers processes as the kernel does for us. */
#ifndef COLLECTOR_PERF_PID_NAMESPACE_H
#define COLLECTOR_PERF_PID_NAMESPACE_H

#include "collector/message/failure.h"
#include <stdbool.h>
#include <stdio.h>

/*
 * perf_event_open and the records of its rings number processes as this process's pid namespace
 * does, /proc as the namespace of its mounting. If the two differ, a number read in /proc is
 * another process's: fails then, and without any /proc. Source: pid_namespaces(7); NSpid in
 * proc(5), which begins with /proc's own namespace.
 */
int pid_namespace_check(struct failure *failure);

/* The same by /proc/self/status, which is borrowed and read up to NSpid, a few MB at most. */
int pid_namespace_check_status(FILE *status, struct failure *failure);

/* Whether this process's pid namespace is the first one, by whose numbers BPF knows processes. */
bool pid_namespace_is_first(void);

#endif
