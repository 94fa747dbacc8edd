/*
 * One CPU's perf_event ring: the kernel writes records at the head, we consume them at the tail.
 *
 * Records are handed out in place; only one that wraps around the end is copied, into the ring's
 * bounce buffer. A consumed record's space goes back to the kernel at once. The kernel never waits
 * for us: a full ring drops records and counts them.
 */
#ifndef COLLECTOR_PERF_RING_H
#define COLLECTOR_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_switch;

struct ring {
	int fd;     /* the ring's event; borrowed */
	void *page; /* the control page, followed by the data */
	uint8_t *data;
	size_t size;            /* bytes of data, a power of two */
	bool has_ids;           /* a record ends with the id of its event (record_format.ids) */
	uint64_t head;          /* as of the last refresh */
	uint64_t tail;          /* consumed up to here */
	uint64_t broken;        /* times the ring held invalid records */
	uint64_t dropped_bytes; /* dropped then */
	uint8_t *bounce;
};

/* Maps the ring of event fd with size bytes (a power of two, at least one page) of data.
 * Returns 0, or -1 with errno (EPERM: more than perf_event_mlock_kb and RLIMIT_MEMLOCK allow). */
int ring_init(struct ring *ring, int fd, size_t size);
void ring_finish(struct ring *ring);

/* Reads a byte of each page, so that the first pass over the records is no slower than the others:
 * virtual machines were seen where the first access to a page takes 10 us. */
void ring_touch(const struct ring *ring);

/* Takes over the records written since by the kernel. */
void ring_refresh(struct ring *ring);

/* Bytes between tail and head. */
size_t ring_fill(const struct ring *ring);

/* The record at the tail: its bytes, whole and contiguous, and its size; false when there is none.
 * Valid until ring_consume, called with this size. */
bool ring_peek(struct ring *ring, const void **bytes, size_t *size);
void ring_consume(struct ring *ring, size_t size);

/* Whether the records since *seen (0 at first) map a file; *seen moves on past the first such
 * record. *file is a hash of the file's identity: path, and inode or build-id. May run in a second
 * thread, as long as the ring's own thread consumes nothing. */
bool ring_next_file(const struct ring *ring, uint64_t *seen, uint64_t *file);

/* The next switch or end of a thread among the records since *seen, as ring_next_file; *seen moves
 * on behind it. */
bool ring_next_switch(const struct ring *ring, uint64_t *seen, struct record_switch *found);

/* Bytes not writable by the kernel at the moment. Reads the control page only: may run in a second
 * thread. */
size_t ring_occupied(const struct ring *ring);

#endif
