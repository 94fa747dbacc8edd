#include "collector/agent/ring.h"

#include "collector/agent/agent.h"
#include "collector/agent/stack.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	MISSES_MAX = 64, /* records that are lost before the rings are searched again */
	NEWS_MAX = 64,   /* records of objects made by a thread each NEWS_NS */
};

#define NEWS_NS 100000000ull

static void count(uint64_t *counter, uint64_t more)
{
	/* One writer, but for signal handlers: the collector needs whole values only. */
	__atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

/*
 * Maps a ring: the whole channel would be more than a program may lock into memory (mlockall). It
 * needs no file descriptor, which the program would see and could close, and no path, which the
 * program may have lost by now: a second mapping of the channel's first pages is turned to the
 * ring's. MAP_NONBLOCK: its pages come when they are touched.
 */
static uint8_t *map_ring(size_t ring)
{
	size_t place = offsetof(struct channel, rings) + ring * CHANNEL_RING_SIZE;
	void *memory = mremap(agent.channel, 0, CHANNEL_RING_SIZE, MREMAP_MAYMOVE);
	if (memory == MAP_FAILED)
		return NULL;
	if (remap_file_pages(memory, CHANNEL_RING_SIZE, 0, place / (size_t)getpagesize(),
			     MAP_NONBLOCK) < 0) {
		munmap(memory, CHANNEL_RING_SIZE);
		return NULL;
	}
	madvise(memory, CHANNEL_RING_SIZE, MADV_DONTDUMP);
	return memory;
}

/* A ring's bytes; NULL: there is no room for them. */
static uint8_t *get_bytes(size_t ring)
{
	uint8_t *none = NULL;
	uint8_t *bytes = atomic_load_explicit(&agent.rings[ring], memory_order_acquire);
	if (bytes)
		return bytes;
	bytes = map_ring(ring);
	if (!bytes ||
	    atomic_compare_exchange_strong_explicit(&agent.rings[ring], &none, bytes,
						    memory_order_acq_rel, memory_order_acquire))
		return bytes;
	munmap(bytes, CHANNEL_RING_SIZE); /* another thread was first */
	return none;
}

enum taken { TAKEN, IN_USE, NO_ROOM };

static enum taken take(size_t ring)
{
	struct channel *channel = agent.channel;
	uint64_t pid = atomic_load_explicit(agent.pid, memory_order_relaxed);
	uint64_t none = 0;
	if (__atomic_load_n(&channel->owners[ring], __ATOMIC_RELAXED) != 0)
		return IN_USE;
	uint8_t *bytes = get_bytes(ring);
	if (!bytes)
		return NO_ROOM;
	if (!__atomic_compare_exchange_n(&channel->owners[ring], &none,
					 pid << 32 | (uint32_t)gettid(), false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return IN_USE;
	agent_thread.control = &channel->controls[ring];
	agent_thread.bytes = bytes;
	return TAKEN;
}

/* Takes a free one of those that are mapped, or else not; from a place of its own, so that threads
 * seldom meet. */
static bool take_any(bool is_mapped)
{
	size_t start = (size_t)gettid();
	enum taken taken = IN_USE;
	for (size_t i = 0; i < CHANNEL_RINGS && taken == IN_USE; i++) {
		size_t ring = (start + i) % CHANNEL_RINGS;
		if (!is_mapped || atomic_load_explicit(&agent.rings[ring], memory_order_relaxed))
			taken = take(ring);
	}
	return taken == TAKEN;
}

static void count_without_ring(enum channel_count which, uint64_t more)
{
	__atomic_fetch_add(&agent.channel->header.counts[which], more, __ATOMIC_RELAXED);
}

static bool find_ring(void)
{
	if (agent_thread.control)
		return true;
	if (agent_thread.ring_misses++ % MISSES_MAX == 0 && (take_any(true) || take_any(false)))
		return true;
	count_without_ring(CHANNEL_WITHOUT_RING, 1);
	return false;
}

static uint64_t put(uint64_t position, const void *bytes, size_t size)
{
	size_t place = position % CHANNEL_RING_SIZE;
	size_t first = size < CHANNEL_RING_SIZE - place ? size : CHANNEL_RING_SIZE - place;
	memcpy(agent_thread.bytes + place, bytes, first);
	memcpy(agent_thread.bytes, (const uint8_t *)bytes + first, size - first);
	return position + size;
}

/* Decides on the record's stack. Returns its first byte. */
static const void *choose_stack(struct channel_record *record,
				const struct channel_registers *registers, uint64_t used)
{
	if (!registers)
		return NULL;
	if (used > CHANNEL_RING_SIZE / 2) {
		record->flags |= CHANNEL_CROWDED;
		return NULL;
	}
	struct agent_stack stack = agent_stack_of(registers, agent.channel->header.stack_bytes);
	record->flags |= stack.size == 0 ? CHANNEL_FOREIGN : CHANNEL_STACK;
	record->flags |= stack.is_whole ? CHANNEL_STACK_WHOLE : 0;
	record->stack_bytes = (uint32_t)stack.size;
	return stack.bytes;
}

static void write_record(struct channel_record *record, const struct channel_registers *registers)
{
	struct channel_control *control = agent_thread.control;
	uint64_t head = control->head;
	/* The collector has read what lies before tail. */
	uint64_t used = head - __atomic_load_n(&control->tail, __ATOMIC_ACQUIRE);
	const void *stack = choose_stack(record, registers, used);
	bool has_stack = (record->flags & CHANNEL_STACK) != 0;
	record->size = (uint32_t)(sizeof(*record) + (has_stack ? sizeof(*registers) : 0) +
				  record->stack_bytes);
	if (used > CHANNEL_RING_SIZE || record->size > CHANNEL_RING_SIZE - used) {
		count(&control->lost, 1);
		return;
	}
	head = put(head, record, sizeof(*record));
	if (has_stack) {
		head = put(head, registers, sizeof(*registers));
		head = put(head, stack, record->stack_bytes);
	}
	/* The collector sees the record's bytes before it sees the new head. */
	__atomic_store_n(&control->head, head, __ATOMIC_RELEASE);
}

void agent_ring_put(struct channel_record *record, const struct channel_registers *registers)
{
	if (!agent_is_active())
		return;
	if (agent_thread.is_writing) {
		if (agent_thread.control)
			count(&agent_thread.control->nested, 1);
		else
			count_without_ring(CHANNEL_WITHOUT_RING, 1);
		return;
	}
	agent_thread.is_writing = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (find_ring())
		write_record(record, registers);
	atomic_signal_fence(memory_order_seq_cst);
	agent_thread.is_writing = false;
}

void agent_ring_count_brief(uint64_t ns)
{
	if (!agent_thread.control) { /* not worth a ring of its own */
		count_without_ring(CHANNEL_BRIEF, 1);
		count_without_ring(CHANNEL_BRIEF_NS, ns);
		return;
	}
	count(&agent_thread.control->brief, 1);
	count(&agent_thread.control->brief_ns, ns);
}

bool agent_ring_takes_new(uint64_t now_ns)
{
	if (now_ns - agent_thread.news_ns >= NEWS_NS) {
		agent_thread.news_ns = now_ns;
		agent_thread.news_left = NEWS_MAX;
	}
	if (agent_thread.news_left > 0) {
		agent_thread.news_left--;
		return true;
	}
	if (agent_thread.control)
		count(&agent_thread.control->unseen_news, 1);
	else
		count_without_ring(CHANNEL_UNSEEN_NEWS, 1);
	return false;
}
