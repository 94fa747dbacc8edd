/* Opening the events of every thread of running processes, while these go on making threads. */
#ifndef COLLECTOR_SESSION_ATTACH_H
#define COLLECTOR_SESSION_ATTACH_H

#include "collector/machine/failure.h"
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include <stdbool.h>
#include <sys/types.h>

/* Comes after each thread that was opened with DRAIN_SETTLED, and with DRAIN_ALL when a list of
 * threads in which some were new is read to its end: then it applies what the rings hold, so that
 * the tracker knows of the inherited threads; where records come as fast as they are applied, as
 * many as it has time for. false: no more are to be opened. */
typedef bool attach_meanwhile(void *user, enum drain_extent extent);

/* Whether pid is a process, not one of its further threads, which /proc would let through. */
int attach_check(pid_t pid, struct failure *failure);

/*
 * Opens all threads of pid. A thread made by an opened one is followed by inheritance; one made
 * before its maker was opened is found by reading the list again, until nothing new is in it. The
 * opened ones deliver samples meanwhile, for which meanwhile is called.
 * 0, 1 when meanwhile ended it, or -1: pid does not exist or may not be sampled.
 */
int attach_process(struct sampler *sampler, struct tracker *tracker, pid_t pid,
		   attach_meanwhile *meanwhile, void *user, struct failure *failure);

/* Drops the events of threads that turned out to be followed by inheritance too. */
void attach_drop_doubles(struct sampler *sampler, const struct tracker *tracker);

#endif
