/* Opening the events of every thread of running processes, while these go on making threads. */
#ifndef COLLECTOR_SESSION_ATTACH_H
#define COLLECTOR_SESSION_ATTACH_H

#include "collector/message/failure.h"
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include <stdbool.h>
#include <sys/types.h>

/* Called with DRAIN_SETTLED after each opened thread, and with DRAIN_ALL at the end of a list of
 * threads with new ones: then it applies the rings' records, for the tracker to know the inherited
 * threads; if records come as fast as they are applied, as many as time allows. false: open no
 * more. */
typedef bool attach_meanwhile(void *user, enum drain_extent extent);

/* Whether pid is a process, not a further thread of one, which /proc would accept. */
int attach_check(pid_t pid, struct failure *failure);

/*
 * Opens all threads of pid. Children of an opened thread are followed by inheritance; a thread made
 * before its maker was opened is found by reading the list again, until nothing new is in it.
 * Opened threads deliver samples already, for `meanwhile` to apply. 0, 1 when meanwhile ended it,
 * or -1: pid does not exist or may not be sampled.
 */
int attach_process(struct sampler *sampler, struct tracker *tracker, pid_t pid,
		   attach_meanwhile *meanwhile, void *user, struct failure *failure);

/* Drops the events of threads also followed by inheritance. */
void attach_drop_doubles(struct sampler *sampler, const struct tracker *tracker);

#endif
