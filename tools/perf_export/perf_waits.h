/*
 * The ends of a result's waits: a wait ends when its thread is woken, if that is known, else when
 * it runs.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_WAITS_H
#define TOOLS_PERF_EXPORT_PERF_WAITS_H

#include "tools/perf_export/moment_queue.h"

struct perf_waits;
struct weighted_stacks;

/* Of the stacks' reader and filter. Returns the reader's code; destroy it in any case. */
TBRW_U32 perf_waits_create(struct weighted_stacks *stacks, struct moment_queue *queue,
			   struct perf_waits **waits);
void perf_waits_destroy(struct perf_waits *waits); /* accepts NULL */

/* Reads on, some thousand waits, and queues them. Returns the reader's code. */
TBRW_U32 perf_waits_read(struct perf_waits *waits);

/* Up to here all is queued; UINT64_MAX: all of all. */
uint64_t perf_waits_known_ns(const struct perf_waits *waits);

#endif
