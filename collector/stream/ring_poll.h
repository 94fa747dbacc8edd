/*
 * Waits for rings. The kernel wakes who polls a ring also at the end of each thread that has an
 * event of it (perf_event_exit_event, kernel/events/core.c), for nothing, and a wake-up takes as
 * long as half a thread's birth. Where many threads end, the rings are left out of the poll for a
 * while, and the caller looks at them itself.
 */
#ifndef COLLECTOR_STREAM_RING_POLL_H
#define COLLECTOR_STREAM_RING_POLL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct ring_poll {
	int patience_ms; /* longest time without a look at the rings; 0: never left out */
	int blind_ms;    /* 0 at first: for which they are still left out */
	bool is_noisy;   /* false at first: the last poll of the rings was woken for nothing */
};

/* The patience with rings of so many bytes of data. */
int ring_poll_patience_ms(size_t ring_size);

/* As poll(2). The first of polls is always polled, the rings behind it are left out where that
 * saves; wait_ms, -1: without end, is shortened to the patience then. Returns poll's result, which
 * counts no ring that was left out. Called by one thread, always the same. */
int ring_poll(struct ring_poll *rings, struct pollfd *polls, size_t count, int *wait_ms);

#endif
