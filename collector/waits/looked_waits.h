/*
 * Waits by the observer's looks: a look is taken when the thread is blocked from before it begins
 * to its end, and becomes a wait when the thread's block ends. A block of the threshold or longer
 * without a look is a wait for an object that is not known (PROFILE_OBJECT_UNSEEN).
 */
#ifndef COLLECTOR_WAITS_LOOKED_WAITS_H
#define COLLECTOR_WAITS_LOOKED_WAITS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stddef.h>
#include <stdint.h>

struct record;
struct waits;
struct waits_state;

struct looked_waits {
	struct hash_table threads; /* with a wait that is not written */
	struct hash_table hidden;  /* processes that nobody may look at */
	struct hash_key key;
	uint64_t next_flush_ns;
	uint64_t lost_ns;       /* switches were lost by then; 0: none were */
	uint32_t unseen_object; /* record; 0: not written yet */
	uint64_t unseen; /* blocks of the threshold or longer without a wait, hidden ones apart */
	uint64_t stale;  /* looks that came too late, or began too early */
};

void looked_waits_init(struct looked_waits *looked);
void looked_waits_finish(struct looked_waits *looked);

/* The record's call, before its thread's state gets it. */
void looked_waits_look(struct waits *waits, const struct record *record,
		       const struct waits_state *state);
void looked_waits_switch(struct waits *waits, const struct record *record,
			 const struct waits_state *state);
void looked_waits_end_thread(struct waits *waits, const struct record *record);

/* Writes, once for a process, why nobody may look at it (errno). */
void looked_waits_hide(struct waits *waits, uint32_t pid, int error, uint64_t time_ns);

/* The process ended, or runs another program: it may be looked at again. */
void looked_waits_forget_process(struct looked_waits *looked, uint32_t pid);

/* Switches were lost by time_ns: the waits that went on are known up to then. */
void looked_waits_lose(struct looked_waits *looked, uint64_t time_ns);

/* Writes the wait of a thread that goes on at end_ns, if nobody looked at it. Before
 * looked_waits_end, once for each thread. */
void looked_waits_leave(struct waits *waits, uint32_t pid, uint32_t tid,
			const struct waits_state *state, uint64_t end_ns);

/* Writes the waits that go on at end_ns, and the note of blocks not seen. */
void looked_waits_end(struct waits *waits, uint64_t end_ns);

#endif
