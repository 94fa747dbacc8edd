/*
 * The outer frames of stacks whose copies ended at a page that was not in memory, as large local
 * arrays leave them: read from the thread's stack while it runs on. That is no proof: the level is
 * one between verified and guessed frames (PROFILE_GUESS_LATE). Frames are given only if all of
 * these conditions hold:
 * - Of the thread's stacks, the last one from before the reading, this one and all between have the
 *   last verified frame at the same place: its function and its stack pointer.
 * - With the bytes read, the stack is whole, and each return address behind the last verified frame
 *   passes uw_space_has_call.
 * - A second reading, from behind the sample, gives no others.
 * - Of the thread's pairs of readings that gave callers, four gave the same ones, and at most one
 *   in a hundred gave others: where callers take turns at the same place of the stack, the last
 *   verified frame is no evidence.
 *
 * No sample is held back: the reading after one sample is the reading before the next.
 *
 * Two buffers of LATE_SIZE_MAX a thread at most, four while it is tested, for LATE_THREADS_MAX
 * threads at a time.
 */
#ifndef COLLECTOR_CONTEXT_LATE_H
#define COLLECTOR_CONTEXT_LATE_H

#include "collector/context/guess.h"
#include "unwind/unwind.h"
#include <stddef.h>
#include <stdint.h>

enum {
	LATE_SIZE_MAX = 64 * 1024,
	LATE_COPY_MAX = 64 * 1024, /* copies of more bytes get no late frames */
	LATE_THREADS_MAX = 64,
	LATE_ABSENT_BYTE = 0xdf /* of pages not in memory: no address has such bytes */
};

/* Reads a thread's stack in the target. */
struct late_reader {
	void *context; /* first argument of the call */
	/* Reads size bytes from start on, no further than the stack's mapping; pages that are not
	 * in memory stay so, and read as LATE_ABSENT_BYTE. Returns the number of bytes; 0: not
	 * permitted, or too early for a reading. */
	size_t (*read)(void *context, uint64_t start, uint8_t *bytes, size_t size);
};

/* A stack without its outer part. All is borrowed for the call. */
struct late_stack {
	struct uw_space *space;
	uint64_t map_version; /* of the process: with a new one no reading from before counts */
	const struct uw_regs *regs;
	const struct uw_stack *copy;
	uint64_t sampled_ns; /* CLOCK_MONOTONIC_RAW */
	const struct late_reader *reader;
};

/* What all threads share. NULL: out of memory. To be destroyed after its users; accepts NULL. */
struct late_pool;
struct late_pool *late_pool_create(void);
void late_pool_destroy(struct late_pool *pool);

/* What is known of a thread's stacks. NULL: the pool has LATE_THREADS_MAX users, or out of
 * memory. */
struct late;
struct late *late_create(struct late_pool *pool);
void late_destroy(struct late *late); /* accepts NULL */

/* Adds the late callers to the count frames that were found, at least one, in an array of
 * UW_DEPTH_MAX; the last one's caller lies beyond the copy. Returns the number of callers, up to
 * the root; 0: none. Reads the thread's stack if the last reading is from before the sample. */
size_t late_find(struct late *late, const struct late_stack *stack, struct uw_frame *frames,
		 size_t count);

/* Takes note of a stack whose copy ended for another reason, leaf first. */
void late_pass(struct late *late, const struct uw_frame *frames, size_t count);

/* Tests late_find on two whole stacks of the thread that follow each other, now and then while it
 * has stacks without an outer part: as if the copies had ended inside the largest frame. The result
 * is that of the second one. */
enum guess_result late_test(struct late *late, const struct late_stack *stack,
			    const struct uw_frame *frames, size_t count);

#endif
