/*
 * Threads of processes with the library: the times they were off the CPUs, which tell spinning from
 * blocking in a call; and one wait seen by two sources counts once. What the library saw replaces
 * the futex waits of the other source that overlap it, whichever comes first.
 */
#ifndef COLLECTOR_WAITS_SYNC_THREADS_H
#define COLLECTOR_WAITS_SYNC_THREADS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct record;
struct waits;
struct waits_state;

struct sync_threads {
	struct hash_table threads;
	struct hash_table processes;
	struct hash_key key;
	uint64_t next_flush_ns;
	uint64_t lost_ns; /* switches were lost before this time; 0: none */
};

void sync_threads_init(struct sync_threads *threads);
void sync_threads_finish(struct sync_threads *threads); /* writes nothing */

/* The library is in the process, of which this is a thread. */
void sync_threads_know(struct sync_threads *threads, uint32_t pid, uint32_t tid);

/* The library is in the process no more; whether it was there. */
bool sync_threads_forget(struct sync_threads *threads, uint32_t pid);

/* A thread gets its CPU, after the state, or leaves it. */
void sync_threads_switch(struct waits *waits, const struct record *record,
			 const struct waits_state *state);

/* What a thread does at the end of a call, after its last switch. */
void sync_threads_run(struct sync_threads *threads, uint32_t tid, const struct waits_state *state);

/* A thread ended: its waits that were held back are written. */
void sync_threads_end(struct waits *waits, uint32_t tid);

/* A wait of another source, to be written. true: it is held back, or the library saw it. */
bool sync_threads_hold(struct waits *waits, const struct profile_wait *wait, uint64_t start_ns);

/* A call of a thread that the library saw. */
struct sync_call {
	uint64_t begin_ns;
	uint64_t end_ns;
	/* Filled in; without knowledge of the thread's switches all of the call is a wait. */
	uint64_t start_ns; /* blocked from here on; begin_ns if it did not block */
	uint64_t wait_ns;
	uint64_t spin_ns; /* on the CPU, before it blocked */
	uint16_t blocks;
	bool is_known; /* by switches */
};

/* Fills in the call's times, and drops the waits of the other source that it replaces. Their waker
 * goes to *wait. */
void sync_threads_cover(struct waits *waits, uint32_t tid, struct sync_call *call,
			struct profile_wait *wait);

/* Writes all that is held back. */
void sync_threads_put_all(struct waits *waits);

#endif
