/*
 * How many threads run, and how many could, over time: changes of the two numbers come roughly in
 * order, and leave as segments of time with constant numbers, in order.
 *
 * A change waits in a bucket of 2^19 ns (0.5 ms) until nothing older can come. Memory: 4 bytes a
 * change of the last second, whatever the length of the collection.
 */
#ifndef TOOLS_STATES_LEVEL_QUEUE_H
#define TOOLS_STATES_LEVEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which changes of one moment count. */
enum level_change {
	LEVEL_RUN_ENDS,
	LEVEL_READY_ENDS,
	LEVEL_READY_RUNS, /* a ready thread runs */
	LEVEL_RUN_BEGINS,
	LEVEL_READY_BEGINS,
};

struct level_segment {
	uint64_t start_ns;
	uint64_t end_ns; /* behind the start */
	uint32_t running;
	uint32_t ready;
};
/* Some segments in order; they live during the call. */
typedef void level_callback(const struct level_segment *segments, size_t count, void *user);

struct level_queue;

/* The first segment begins at start_ns; window_ns is less than LEVEL_WINDOW_MAX_NS. Without memory
 * the program ends (tools/memory/xalloc.h). */
#define LEVEL_WINDOW_MAX_NS UINT64_C(1070000000)
struct level_queue *level_queue_create(uint64_t start_ns, uint64_t window_ns,
				       level_callback *callback, void *user);
void level_queue_destroy(struct level_queue *queue); /* accepts NULL */

/* A change at a time: segments older than the window's length before it may leave at once. A change
 * in time that has left counts from the earliest moment that has not. */
void level_queue_add(struct level_queue *queue, uint64_t time_ns, enum level_change change);

/* Whether the time has left. */
bool level_queue_is_past(const struct level_queue *queue, uint64_t time_ns);

/* More moments of LEVEL_READY_BEGINS, in order: borrowed. For changes that are known to come too
 * late. Before all others. */
void level_queue_know(struct level_queue *queue, const uint64_t *times, size_t count);

/* Nothing older will come. */
void level_queue_advance(struct level_queue *queue, uint64_t time_ns);

/* The rest, up to the end; the queue takes no more. */
void level_queue_end(struct level_queue *queue, uint64_t end_ns);

#endif
