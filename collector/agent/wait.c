#include "collector/agent/wait.h"

#include "collector/agent/ring.h"
#include <errno.h>

bool agent_wait_begin(struct agent_call *call)
{
	if (!agent_is_active())
		return false;
	size_t slot = slot_of(call->object);
	call->begin_ns = agent_now();
	/* Who wakes us between the two has a `since` that is too old at most: it records more. */
	if (slot_add(&agent.waiting[slot], call->object))
		atomic_store_explicit(&agent.since[slot], call->begin_ns, memory_order_relaxed);
	return true;
}

void agent_wait_cancel(const struct agent_call *call)
{
	slot_remove(&agent.waiting[slot_of(call->object)], call->object);
}

static void record(const struct agent_call *call, enum channel_kind kind, uint64_t end_ns,
		   unsigned flags, uint32_t joined, const struct channel_registers *registers)
{
	struct channel_record one = {
		.kind = (uint8_t)kind,
		.type = (uint8_t)call->type,
		.flags = (uint16_t)flags,
		.object = (uintptr_t)call->object,
		.begin_ns = call->begin_ns,
		.end_ns = end_ns,
		.site = (uintptr_t)call->site,
		.joined = joined,
	};
	agent_ring_put(&one, registers);
}

void agent_wait_end(const struct agent_call *call, unsigned flags, uint32_t joined,
		    const struct channel_registers *registers)
{
	int error = errno;
	if (agent_is_active()) {
		const struct channel_header *header = &agent.channel->header;
		uint64_t now = agent_now();
		agent_wait_cancel(call);
		uint64_t waited = now > call->begin_ns ? now - call->begin_ns : 0;
		if (waited < header->record_ns)
			agent_ring_count_brief(waited);
		else
			record(call, CHANNEL_WAIT, now, flags, joined,
			       waited >= header->stack_ns ? registers : NULL);
	}
	errno = error;
}

bool agent_wake_begin(struct agent_call *call)
{
	if (!agent_is_active())
		return false;
	call->begin_ns = agent_now();
	uint64_t since =
		atomic_load_explicit(&agent.since[slot_of(call->object)], memory_order_relaxed);
	return call->begin_ns >= since + agent.channel->header.stack_ns;
}

void agent_wake_end(const struct agent_call *call, const struct channel_registers *registers)
{
	int error = errno;
	record(call, CHANNEL_WAKE, agent_now(), call->flags, 0, registers);
	errno = error;
}

void agent_note_new(const struct agent_call *call, const struct channel_registers *registers)
{
	int error = errno;
	if (agent_is_active()) {
		struct agent_call made = *call;
		made.begin_ns = agent_now();
		if (agent_ring_takes_new(made.begin_ns))
			record(&made, CHANNEL_NEW, made.begin_ns, 0, 0, registers);
	}
	errno = error;
}
