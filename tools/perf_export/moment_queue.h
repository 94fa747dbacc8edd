/*
 * Moments by time, the oldest first: a heap.
 */
#ifndef TOOLS_PERF_EXPORT_MOMENT_QUEUE_H
#define TOOLS_PERF_EXPORT_MOMENT_QUEUE_H

#include "tools/perf_export/perf_moments.h"
#include <stddef.h>

struct moment_queue { /* all zero: empty */
	struct perf_moment *moments;
	size_t count;
	size_t capacity;
};

void moment_queue_finish(struct moment_queue *queue);

void moment_queue_put(struct moment_queue *queue, const struct perf_moment *moment);

/* NULL: there is none. Until the next call of the others. */
const struct perf_moment *moment_queue_first(const struct moment_queue *queue);

/* There is one. */
struct perf_moment moment_queue_take(struct moment_queue *queue);

#endif
