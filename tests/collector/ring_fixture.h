/* Rings on a memory file instead of a perf event, written to as the kernel does. */
#ifndef TESTS_COLLECTOR_RING_FIXTURE_H
#define TESTS_COLLECTOR_RING_FIXTURE_H

#include "collector/perf/ring.h"

/* Goes with ring_finish. start: where head and tail begin, as if that much had gone through. */
void ring_fixture_init(struct ring *ring, size_t size, uint64_t start);

/* Appends bytes and publishes them; fails the test when the reader left no room. */
void ring_fixture_put(struct ring *ring, const void *bytes, size_t size);

/* Appends a record of the given size whose bytes after the header count up from first. */
void ring_fixture_put_record(struct ring *ring, size_t size, uint8_t first);

/* The head as published, and the tail as given back. */
uint64_t ring_fixture_head(const struct ring *ring);
void ring_fixture_set_head(struct ring *ring, uint64_t head);
uint64_t ring_fixture_tail(const struct ring *ring);

#endif
