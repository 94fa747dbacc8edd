/* The added events (event_config.added) of a thread: one of each on each CPU, for the same rings as
 * the sampling events. */
#ifndef COLLECTOR_PERF_ADDED_EVENTS_H
#define COLLECTOR_PERF_ADDED_EVENTS_H

#include "collector/host/cpus.h"
#include "collector/perf/event.h"
#include <sys/types.h>

/* Opens them, config->added_count times one for each CPU, by event and CPU, and adds their ids to
 * config->ids. The caller closes and frees them. NULL with errno: none is open. */
int *added_events_open(const struct event_config *config, const struct cpus *cpus, pid_t tid);

#endif
