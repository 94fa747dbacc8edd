/*
 * The switches of threads, by the stretches in which they ran. A stretch ends as what follows says:
 * the thread waits, or could go on. Slices come by their ends: what follows is known later, so all
 * are read once before.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_SWITCHES_H
#define TOOLS_PERF_EXPORT_PERF_SWITCHES_H

#include "tools/perf_export/moment_queue.h"

struct filter;
struct perf_switches;
struct profile_reader;

/* Both outlive it. Queues that threads wait from the collection's start on. Returns the reader's
 * code; destroy it in any case. */
TBRW_U32 perf_switches_create(struct profile_reader *reader, const struct filter *filter,
			      struct moment_queue *queue, struct perf_switches **switches);
void perf_switches_destroy(struct perf_switches *switches); /* accepts NULL */

/* Reads on, some thousand slices, and queues their switches. Returns the reader's code. */
TBRW_U32 perf_switches_read(struct perf_switches *switches);

/* Up to here all is queued; UINT64_MAX: all of all. */
uint64_t perf_switches_known_ns(const struct perf_switches *switches);

#endif
