/* A drain of two rings, which the test fills as the kernel does. */
#ifndef TESTS_COLLECTOR_DRAIN_FIXTURE_H
#define TESTS_COLLECTOR_DRAIN_FIXTURE_H

#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include <stddef.h>
#include <stdint.h>

enum { RINGS = 2, SIZE = 1024 * 1024, NAME_SIZE = 2000, WAIT_MS = 20000 };

extern struct ring rings[RINGS];
extern struct sampler sampler;
extern struct drain *drain;
extern char name[NAME_SIZE]; /* of put records */
extern uint32_t put_count;
extern uint32_t taken; /* by drain_fixture_next */

/* For tcase_add_checked_fixture. */
void drain_fixture_set_up(void);
void drain_fixture_tear_down(void);

/* Puts a record into a ring: its thread is put_count, its time one more. */
void drain_fixture_put_record(struct record *record, size_t ring);
void drain_fixture_put(size_t ring); /* a RECORD_COMM with the name */

/* Fills a ring up to five eighths: the thread moves it, and leaves no stacks out. Returns how many
 * records that are. */
uint32_t drain_fixture_crowd(size_t ring);

/* As the kernel does when a quarter of a ring is full. */
void drain_fixture_wake(size_t ring);

/* Waits until the thread has taken all. What comes while the thread takes may stay: the ring was
 * filled before drain_start. */
void drain_fixture_wait_for_tail(size_t ring, uint64_t tail);

/* Waits until the ring is as empty as the thread keeps it. */
void drain_fixture_wait_for_room(size_t ring);

/* The next record, put by drain_fixture_put in order. */
const struct record *drain_fixture_next(void);
void drain_fixture_assert_none(void);

#endif
