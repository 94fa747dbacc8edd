/* Opening the events of every thread of running processes, while these go on making threads. */
#ifndef COLLECTOR_ATTACH_H
#define COLLECTOR_ATTACH_H

#include "collector/failure.h"
#include "collector/sampler.h"
#include "collector/tracker.h"
#include <sys/types.h>

/* Applies the records that the rings hold by now. */
typedef void attach_drain(void *user);

/* Whether pid is a process, not one of its further threads, which /proc would let through. */
int attach_check(pid_t pid, struct failure *failure);

/*
 * Opens all threads of pid. A thread made by an opened one is followed by inheritance; one made
 * before its maker was opened is found by reading the list again, until nothing new is in it. drain
 * is called in between, so that the tracker knows the inherited ones.
 * Fails when pid does not exist or may not be sampled.
 */
int attach_process(struct sampler *sampler, struct tracker *tracker, pid_t pid, attach_drain *drain,
		   void *user, struct failure *failure);

/* Drops the events of threads that turned out to be followed by inheritance too. */
void attach_drop_doubles(struct sampler *sampler, const struct tracker *tracker);

#endif
