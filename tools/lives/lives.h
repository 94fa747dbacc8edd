/*
 * What each thread of a result did over its life, piece by piece, and what it waited for: its
 * states (tools/states/thread_states.h) and its waits, brought together. Pieces of a thread leave
 * no gap. Times are ns since the start of the collection.
 *
 * Pieces and waits are spooled by thread (tools/spool/thread_spool.h): memory goes by the number of
 * threads and of distinct waits. Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_LIVES_LIVES_H
#define TOOLS_LIVES_LIVES_H

#include "profile/profile.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>

struct filter;
struct functions;
struct profile_reader;

struct life_wait {
	uint64_t start_ns;
	uint64_t wait_ns; /* these three as in struct profile_wait */
	uint64_t ready_ns;
	uint32_t spin_ns;
	uint32_t item;         /* see lives_wait_name */
	uint32_t node;         /* of the stack's leaf; 0: not known */
	uint32_t waker_thread; /* index; PROFILE_NONE: not known */
	uint32_t waker_node;   /* 0: no stack */
	uint16_t blocks;
	uint16_t flags;      /* PROFILE_WAIT_... */
	uint8_t state;       /* of the stack, enum profile_stack_state */
	uint8_t waker_state; /* of the waker's stack */
};

struct life_piece {
	uint64_t start_ns;
	uint64_t end_ns; /* behind the start */
	enum profile_state state;
	/* Of BLOCKED: what for; NULL: no record says. It lives until the next call. */
	const struct life_wait *wait;
	bool ends_wait; /* the wait's last piece */
};

struct lives;

/* Of the threads that the filter takes, in its part of the run. Waits for which the filter has
 * conditions on functions that do not hold are not known. Reader, functions and filter outlive it.
 * Returns the reader's code; *lives is NULL on failure. */
TBRW_U32 lives_create(struct lives **lives, struct profile_reader *reader,
		      const struct functions *functions, const struct filter *filter);
void lives_destroy(struct lives *lives); /* accepts NULL */

/* Whether the states of a thread of the reader are known. */
bool lives_has(const struct lives *lives, uint32_t thread);

/* Goes before the first piece of a thread of the reader. One thread is read at a time. */
void lives_rewind(struct lives *lives, uint32_t thread);

/* Calls take with each wait of a thread, by start, also those without a piece of their own: they
 * have no blocked state, or share another's. The next piece is asked for by lives_rewind. */
void lives_each_wait(struct lives *lives, uint32_t thread,
		     void (*take)(const struct life_wait *wait, void *user), void *user);
bool lives_next(struct lives *lives, struct life_piece *piece);

/* "Mutex queue_lock"; "Mutex". */
const char *lives_wait_name(const struct lives *lives, const struct life_wait *wait);
const char *lives_wait_type(const struct lives *lives, const struct life_wait *wait);

#endif
