/*
 * What the interposed functions say: a wait, a call that may have ended others' waits, an object
 * made. All keep errno.
 */
#ifndef COLLECTOR_AGENT_WAIT_H
#define COLLECTOR_AGENT_WAIT_H

#include "collector/agent/agent.h"
#include "collector/agent/stack.h"

/* A call that waits, or that wakes. */
struct agent_call {
	const volatile void *object;
	void *site; /* where it returns to */
	uint64_t begin_ns;
	enum channel_type type;
	unsigned flags; /* of a wake: CHANNEL_ALL */
};

/* Begins a wait, before the call that blocks. false: nothing is recorded. */
bool agent_wait_begin(struct agent_call *call);

/* Ends it, with CHANNEL_TIMED_OUT and the like. joined: of a join; else 0. */
void agent_wait_end(const struct agent_call *call, unsigned flags, uint32_t joined,
		    const struct channel_registers *registers);

/* The call did not wait. */
void agent_wait_cancel(const struct agent_call *call);

/* Whether anybody may wait for the object: if not, its call wakes nobody. */
static inline bool agent_is_awaited(const volatile void *object)
{
	return slot_has(&agent.waiting[slot_of(object)], object);
}

/* Begins a call that wakes, for an awaited object. false: nothing is recorded. */
bool agent_wake_begin(struct agent_call *call);

/* Ends it: the call may have woken somebody. */
void agent_wake_end(const struct agent_call *call, const struct channel_registers *registers);

/* An object was made. */
void agent_note_new(const struct agent_call *call, const struct channel_registers *registers);

/* For the bodies of interposed functions. */
#define AGENT_CALL(of_type, of_object)                                                        \
	{                                                                                     \
		.object = (of_object), .site = __builtin_return_address(0), .type = (of_type) \
	}

#define AGENT_EXPORT __attribute__((visibility("default")))

#endif
