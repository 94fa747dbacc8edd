#include "tools/perf_export/moment_queue.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>

void moment_queue_finish(struct moment_queue *queue)
{
	free(queue->moments);
	*queue = (struct moment_queue){0};
}

static bool is_before(const struct perf_moment *left, const struct perf_moment *right)
{
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns;
	if (left->kind != right->kind)
		return left->kind < right->kind;
	return left->tid < right->tid;
}

void moment_queue_put(struct moment_queue *queue, const struct perf_moment *moment)
{
	xalloc_room(&queue->moments, &queue->capacity, queue->count + 1, sizeof(*queue->moments));
	size_t at = queue->count++;
	for (size_t parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (!is_before(moment, &queue->moments[parent]))
			break;
		queue->moments[at] = queue->moments[parent];
	}
	queue->moments[at] = *moment;
}

const struct perf_moment *moment_queue_first(const struct moment_queue *queue)
{
	return queue->count > 0 ? queue->moments : NULL;
}

struct perf_moment moment_queue_take(struct moment_queue *queue)
{
	assert(queue->count > 0);
	struct perf_moment *moments = queue->moments;
	struct perf_moment first = moments[0], last = moments[--queue->count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < queue->count; at = child) {
		if (child + 1 < queue->count && is_before(&moments[child + 1], &moments[child]))
			child++;
		if (!is_before(&moments[child], &last))
			break;
		moments[at] = moments[child];
	}
	moments[at] = last;
	return first;
}
