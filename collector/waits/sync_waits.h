/*
 * Waits that the library in the target saw: with their wakers, spin times and the places where
 * objects were made.
 *
 * Records come in the order in which they were written: a waker's may come after the wait that it
 * ended. So waits stay a moment before they are matched with wakers and written.
 */
#ifndef COLLECTOR_WAITS_SYNC_WAITS_H
#define COLLECTOR_WAITS_SYNC_WAITS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record;
struct sync_pending;
struct waits;
struct waits_state;

/* Waits in the order of their coming. */
struct sync_queue {
	struct sync_pending *items;
	size_t first;
	size_t count; /* behind the last one */
	size_t capacity;
};

struct sync_waits {
	struct sync_queue fresh;
	struct sync_queue unmatched; /* looked for in vain, once */
	uint64_t unknown;            /* waits of threads that nobody knows */
};

void sync_waits_finish(struct sync_waits *waits); /* writes nothing */

/* Applies a RECORD_SYNC_WAIT, _WAKE or _NEW. state: of the thread, for a wait. */
void sync_waits_apply(struct waits *waits, const struct record *record,
		      const struct waits_state *state);

/* Writes the waits whose time has come. */
void sync_waits_advance(struct waits *waits);

/* Writes all that is left, and the note of what was lost here. */
void sync_waits_end(struct waits *waits, uint64_t end_ns);

/* Objects of processes with the library: where each was made, and the calls that lately may have
 * ended waits for it (sync_objects.c). */
enum { SYNC_OBJECTS_MAX = 65536, SYNC_WAKES = 32 };

struct sync_wake {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t tid;
	uint32_t node;
	uint8_t state; /* of the stack, as in profile_wait */
	uint8_t reason;
	bool wakes_all; /* all who wait, not one of them */
	bool is_spent;  /* it woke one */
};

struct sync_objects {
	struct hash_table table;
	struct hash_key key;
	uint64_t forgotten; /* objects and wakes that there was no room for */
};

void sync_objects_init(struct sync_objects *objects);
void sync_objects_finish(struct sync_objects *objects);

/* The object was made at that node. */
void sync_objects_make(struct sync_objects *objects, uint32_t pid, uint64_t address, uint32_t node);

/* Where the object was made; 0: not seen. */
uint32_t sync_objects_created(const struct sync_objects *objects, uint32_t pid, uint64_t address);

void sync_objects_wake(struct sync_objects *objects, uint32_t pid, uint64_t address,
		       const struct sync_wake *wake);

/*
 * The call of another thread that ended a wait from begin to end; NULL: none is known. It lives
 * until the next wake. first: who wakes one wakes who waited longest (condition variables), so the
 * first wake is taken, once; otherwise the wait ended when the last one before its end left it the
 * object.
 */
const struct sync_wake *sync_objects_match(struct sync_objects *objects, uint32_t pid,
					   uint64_t address, uint64_t begin_ns, uint64_t end_ns,
					   uint32_t tid, bool first);

/* The process ended, or runs another program. */
void sync_objects_forget(struct sync_objects *objects, uint32_t pid);

#endif
