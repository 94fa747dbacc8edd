/*
 * libtbagent.so's own state, one for the process. A library that interposes functions has nobody to
 * hand it its state: this is the one place of the project with a mutable global.
 *
 * Everything here is called with locks held, from signal handlers, in children of fork and before
 * main: nothing takes a lock or memory, or changes errno.
 */
#ifndef COLLECTOR_AGENT_AGENT_H
#define COLLECTOR_AGENT_AGENT_H

#include "collector/agent/channel.h"
#include "collector/agent/real.h"
#include "collector/agent/slot.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread is making the state of a fork's child. */
#define AGENT_BUSY UINT32_MAX

struct agent {
	struct real_functions real;
	struct channel *channel; /* NULL: nothing is recorded; without the rings */
	/* Those that threads of the process took stay mapped for its next ones; else NULL. */
	_Atomic(uint8_t *) rings[CHANNEL_RINGS];
	/* Private memory that a fork's child finds zeroed: else the process's id, or AGENT_BUSY. */
	_Atomic uint32_t *pid;
	uintptr_t main_top; /* above the main thread's frames */
	pthread_t main_thread;
	uintptr_t main_depth; /* bytes that the main thread's stack may grow to */
	/* Threads that wait: who finds none for an object at its unlock has nobody to wake. A
	 * thread that is cancelled or jumps out of its wait stays counted, which costs the object's
	 * later unlocks some time. */
	_Atomic uint64_t waiting[SLOTS];
	_Atomic uint64_t since[SLOTS]; /* at the latest, the first of them */
};

/* What a thread knows of itself. */
struct agent_thread {
	uint32_t pid; /* the process that all this is of: after a fork it is another one's */
	struct channel_control *control; /* of its ring; NULL: none yet */
	uint8_t *bytes;                  /* the ring's */
	uintptr_t stack_low;  /* from here to its top, the stack is known to be in memory */
	uint64_t news_ns;     /* when news_left was filled up */
	uint32_t news_left;   /* records of objects made that it may still write */
	uint32_t ring_misses; /* in a row: all rings were in use */
	volatile bool is_writing;
	bool is_resolving;
};

extern struct agent agent;
extern _Thread_local struct agent_thread agent_thread;

/* Finds the functions behind the library's own. */
void agent_resolve(void);

static inline const struct real_functions *agent_real(void)
{
	if (__builtin_expect(!__atomic_load_n(&agent.real.is_complete, __ATOMIC_ACQUIRE), 0))
		agent_resolve();
	return &agent.real;
}

/* Whether something is recorded; in a fork's child, after its own state was made. Everything else
 * that records comes after this, in the same call. */
bool agent_is_active(void);

/* CLOCK_MONOTONIC_RAW. */
uint64_t agent_now(void);

#endif
