/*
 * What the interposed functions say: a wait, a call that may have ended others' waits, an object
 * made. All keep errno.
 */
#ifndef COLLECTOR_AGENT_WAIT_H
#define COLLECTOR_AGENT_WAIT_H

#include "collector/agent/agent.h"
#include "collector/agent/stack.h"
#include <errno.h>

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

/* A wait's flags by the result of its call: an error's number. */
static inline unsigned agent_flags_of(int result)
{
	return result == 0 ? 0 : result == ETIMEDOUT ? CHANNEL_TIMED_OUT : CHANNEL_FAILED;
}

/* The same of a call that gets a mutex, perhaps from an owner who died with it. */
static inline unsigned agent_mutex_flags_of(int result)
{
	return result == EOWNERDEAD ? 0 : agent_flags_of(result);
}

/* The call that blocks, as a wait on the record; its result. flags_of tells the wait's flags by the
 * result. A macro, since the registers have to be the interposed function's own. */
#define AGENT_WAIT(call, joined, flags_of, blocking)                                      \
	({                                                                                \
		struct channel_registers registers_;                                      \
		bool is_recorded_ = agent_wait_begin(call);                               \
		int result_ = (blocking);                                                 \
		if (is_recorded_) {                                                       \
			AGENT_REGISTERS_TAKE(&registers_);                                \
			agent_wait_end((call), flags_of(result_), (joined), &registers_); \
		}                                                                         \
		result_;                                                                  \
	})

#define AGENT_EXPORT __attribute__((visibility("default")))

#endif
