/*
 * User code's parts of callchains that the kernel walked only when the thread went back to user
 * code (PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19): samples before that have a cookie in place of
 * these frames. Source: Linux 6.19, include/uapi/linux/perf_event.h.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_DEFERRED_H
#define COLLECTOR_RECORDING_RECORDING_DEFERRED_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording_events;

/* Of the frames that are kept: those of further records are left out. */
enum { RECORDING_DEFERRED_BYTES = 256 << 20 };

/* All zero: there are none. */
struct recording_deferred {
	struct hash_table chains;
	struct hash_key key;
	uint64_t *frames;
	size_t count;
	size_t capacity;
	uint64_t left_out; /* records without room, or damaged ones */
};

/* Takes a record, with its header. */
void recording_deferred_take(struct recording_deferred *deferred, struct recording_events *events,
			     const uint8_t *bytes, size_t size);

/* The frames behind a thread's cookie, with the kernel's markers; until the next record is taken.
 * NULL: nothing is known of it. */
const uint64_t *recording_deferred_find(const struct recording_deferred *deferred, uint32_t tid,
					uint64_t cookie, size_t *count);

void recording_deferred_finish(struct recording_deferred *deferred);

#endif
