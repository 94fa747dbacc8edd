/*
 * Stands in for collector/result/emit.c at link time: each call becomes a line of text, so that a
 * test reads what the result would hold. Times that mean "before" and "never" are written as such.
 */
#ifndef TESTS_COLLECTOR_FAKE_EMIT_H
#define TESTS_COLLECTOR_FAKE_EMIT_H

#include "collector/result/emit.h"
#include <stddef.h>

struct emit *fake_emit_create(void);
void fake_emit_destroy(struct emit *emit);

/* All lines so far, each with its newline; valid until the next call that adds one. */
const char *fake_emit_lines(const struct emit *emit);

/* Forgets the lines, not the numbers given out. */
void fake_emit_clear(struct emit *emit);

/* Lines that begin with prefix. */
size_t fake_emit_count(const struct emit *emit, const char *prefix);

/* Fails the test, with the last lines, unless the line is there exactly `times` times. */
void fake_emit_assert(const struct emit *emit, const char *line, size_t times);

/* What the last ones were; zeros before the first. */
struct profile_sample fake_emit_last_sample(const struct emit *emit);
struct profile_wait fake_emit_last_wait(const struct emit *emit);
/* A node that was written. */
struct profile_node fake_emit_node(const struct emit *emit, uint32_t node);

/* name lives as long as the thread. */
struct profile_thread_life fake_emit_last_thread(const struct emit *emit);

/* The last record of a kind; zeros before the first. */
struct profile_unwinding fake_emit_unwinding(const struct emit *emit,
					     enum profile_unwinding_kind kind);

struct profile_image fake_emit_last_image(const struct emit *emit);

/* Sums over all samples and threads, which must agree. */
struct fake_emit_sums {
	uint64_t weight_ns; /* of samples */
	uint64_t cpu_ns;    /* of threads */
	uint64_t rest_ns;
	uint64_t samples;
	uint64_t thread_samples;
};
struct fake_emit_sums fake_emit_sums(const struct emit *emit);

#endif
