/*
 * Copies of records waiting for the unwinding thread, in order. One thread at a time puts, one
 * takes; meanwhile they share only the queue.
 *
 * The queue is 64 chunks of 1 MB, handed over whole and given back once taken. Used chunks are
 * filled again before new ones are touched: only the longest queue so far is resident.
 */
#ifndef COLLECTOR_STREAM_QUEUE_H
#define COLLECTOR_STREAM_QUEUE_H

#include "collector/perf/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUEUE_CHUNKS = 64, QUEUE_CHUNK_SIZE = 1024 * 1024 };

struct queue;

/* NULL with errno. */
struct queue *queue_create(void);
void queue_destroy(struct queue *queue); /* accepts NULL; after both threads are done */

/* For the putting thread: no allocation, and no system call but a wake-up for each chunk. */

/* Makes sure of room for the next two records, whatever their size. false: all chunks wait. */
bool queue_prepare(struct queue *queue);

/* Waits until queue_prepare may have more luck; in any thread. false: the taker gave up. */
bool queue_wait(struct queue *queue);

/* Copies a record, after queue_prepare made room. Stacks are left out (RECORD_LEFT_OUT) from the
 * time more than half of the chunks wait until less than a quarter does. */
void queue_put(struct queue *queue, const struct record *record);

/* Whether nothing waits, and nothing was put without being handed over. */
bool queue_is_empty(const struct queue *queue);

/* Hands over the chunk being filled, unless the taker has other chunks to take. */
void queue_flush(struct queue *queue);

/* Hands over the rest: the end for the taking thread. Later records need another flush and take. */
void queue_close(struct queue *queue);

/* Makes the taker look; in any thread. */
void queue_wake(const struct queue *queue);

/* For the taking thread. */

/* A file to poll for input: readable when there may be more to take since queue_take returned
 * QUEUE_EMPTY. Borrowed. */
int queue_fd(const struct queue *queue);

enum queue_state {
	QUEUE_ENTRY,
	QUEUE_EMPTY, /* for now */
	QUEUE_END    /* closed, and all is taken */
};

/* The next record, valid until the next call; its bytes lie in the queue too. */
enum queue_state queue_take(struct queue *queue, const struct record **record);

/* Takes nothing any more: nobody waits for the taker from now on. */
void queue_abandon(struct queue *queue);

/* Bytes of stacks left out; not while another thread puts. */
uint64_t queue_left_out_bytes(const struct queue *queue);

#endif
