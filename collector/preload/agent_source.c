#include "collector/preload/agent_source.h"

#include "collector/agent/channel.h"
#include "collector/machine/clock.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define HELD_BYTES_MAX (64u << 20)  /* of records not yet handed out; more stay in the rings */
#define LOOK_NS        100000000ull /* between looks for rings of threads that ended */
#define RECORD_BYTES_MAX \
	(sizeof(struct channel_record) + sizeof(struct channel_registers) + CHANNEL_STACK_MAX)

/* A record, copied out of its ring. */
struct entry {
	uint64_t time_ns;
	uint64_t number; /* in the order of copying */
	uint64_t owner;  /* of its ring */
	struct channel_record record;
	uint8_t rest[]; /* of the record */
};

struct agent_source {
	struct channel *channel;
	uint64_t tails[CHANNEL_RINGS];
	uint64_t last_ns[CHANNEL_RINGS];
	struct entry **entries; /* by time from first to sorted, then as they came */
	size_t first;
	size_t sorted;
	size_t count;
	size_t capacity;
	size_t held_bytes;
	uint64_t next_number;
	uint64_t next_look_ns;
	struct agent_source_counts counts;
};

struct agent_source *agent_source_create(struct channel *channel)
{
	struct agent_source *agent = calloc(1, sizeof(*agent));
	if (agent)
		agent->channel = channel;
	return agent;
}

void agent_source_destroy(struct agent_source *agent)
{
	if (!agent)
		return;
	for (size_t i = agent->first; i < agent->count; i++)
		free(agent->entries[i]);
	free(agent->entries);
	free(agent);
}

/* What is there now; the target may change it meanwhile. */
static void copy_out(const struct channel *channel, size_t ring, uint64_t position, void *to,
		     size_t size)
{
	size_t place = position % CHANNEL_RING_SIZE;
	size_t first = size < CHANNEL_RING_SIZE - place ? size : CHANNEL_RING_SIZE - place;
	memcpy(to, channel->rings[ring] + place, first);
	memcpy((uint8_t *)to + first, channel->rings[ring], size - first);
}

static bool reserve(struct agent_source *agent)
{
	if (agent->count < agent->capacity)
		return true;
	size_t capacity = agent->capacity ? 2 * agent->capacity : 1024;
	struct entry **entries = reallocarray(agent->entries, capacity, sizeof(struct entry *));
	if (!entries)
		return false;
	agent->entries = entries;
	agent->capacity = capacity;
	return true;
}

/* The time by which the record is merged: a ring's records are in order, and none is of the future.
 */
static uint64_t bound_time(struct agent_source *agent, size_t ring, uint64_t time_ns, uint64_t now)
{
	if (time_ns > now)
		time_ns = now;
	if (time_ns < agent->last_ns[ring])
		time_ns = agent->last_ns[ring];
	agent->last_ns[ring] = time_ns;
	return time_ns;
}

enum taken { TAKEN, NO_ROOM, NO_RECORD };

/* Copies the record at the ring's tail, of at most `available` bytes. */
static enum taken take_record(struct agent_source *agent, size_t ring, uint64_t owner,
			      uint64_t available, uint64_t now)
{
	struct channel_record record;
	uint64_t tail = agent->tails[ring];
	if (available < sizeof(record))
		return NO_RECORD;
	copy_out(agent->channel, ring, tail, &record, sizeof(record));
	if (record.size < sizeof(record) || record.size % 8 != 0 || record.size > available ||
	    record.size > RECORD_BYTES_MAX)
		return NO_RECORD;
	size_t rest = record.size - sizeof(record);
	size_t bytes = sizeof(struct entry) + rest;
	struct entry *entry = NULL;
	if (agent->held_bytes + bytes <= HELD_BYTES_MAX && reserve(agent))
		entry = malloc(bytes);
	if (!entry)
		return NO_ROOM;
	entry->time_ns = bound_time(agent, ring, record.end_ns, now);
	entry->number = agent->next_number++;
	entry->owner = owner & ~CHANNEL_LEFT;
	entry->record = record;
	copy_out(agent->channel, ring, tail + sizeof(record), entry->rest, rest);
	agent->entries[agent->count++] = entry;
	agent->held_bytes += bytes;
	agent->counts.records++;
	agent->tails[ring] = tail + record.size;
	return TAKEN;
}

static void take_ring(struct agent_source *agent, size_t ring, uint64_t owner)
{
	struct channel_control *control = &agent->channel->controls[ring];
	/* The writer's bytes before its head. */
	uint64_t head = __atomic_load_n(&control->head, __ATOMIC_ACQUIRE);
	uint64_t begin = agent->tails[ring];
	if (head == begin)
		return;
	/* After the head: what was written before it has earlier times. */
	uint64_t now = clock_now();
	enum taken taken = head - begin <= CHANNEL_RING_SIZE ? TAKEN : NO_RECORD;
	while (taken == TAKEN && agent->tails[ring] != head)
		taken = take_record(agent, ring, owner, head - agent->tails[ring], now);
	if (taken == NO_RECORD) {
		uint64_t dropped = head - agent->tails[ring];
		agent->counts.broken++;
		agent->counts.dropped_bytes +=
			dropped < CHANNEL_RING_SIZE ? dropped : CHANNEL_RING_SIZE;
		agent->tails[ring] = head;
	}
	if (agent->tails[ring] != begin)
		/* Our copies come before the writer may use the space again. */
		__atomic_store_n(&control->tail, agent->tails[ring], __ATOMIC_RELEASE);
}

/* Gives a ring back whose thread is gone: what it wrote was taken before this look at it. */
static void free_ring(struct agent_source *agent, size_t ring, uint64_t owner)
{
	struct channel *channel = agent->channel;
	pid_t pid = (pid_t)(owner >> 32);
	pid_t tid = (pid_t)(uint32_t)owner;
	int error = errno;
	bool is_gone = pid <= 0 || tid <= 0 || (owner & CHANNEL_LEFT) != 0 ||
		       (tgkill(pid, tid, 0) < 0 && errno == ESRCH);
	errno = error;
	if (is_gone &&
	    __atomic_load_n(&channel->controls[ring].head, __ATOMIC_ACQUIRE) == agent->tails[ring])
		__atomic_store_n(&channel->owners[ring], 0, __ATOMIC_RELEASE);
}

static void take(const struct source *source)
{
	struct agent_source *agent = source->state;
	uint64_t now = clock_now();
	bool looks = now >= agent->next_look_ns;
	if (looks)
		agent->next_look_ns = now + LOOK_NS;
	for (size_t ring = 0; ring < CHANNEL_RINGS; ring++) {
		uint64_t owner = __atomic_load_n(&agent->channel->owners[ring], __ATOMIC_ACQUIRE);
		if (owner == 0)
			continue;
		take_ring(agent, ring, owner);
		if (looks)
			free_ring(agent, ring, owner);
	}
}

static int compare(const void *first, const void *second)
{
	const struct entry *a = *(struct entry *const *)first;
	const struct entry *b = *(struct entry *const *)second;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void refresh(const struct source *source)
{
	struct agent_source *agent = source->state;
	take(source);
	agent->count -= agent->first;
	if (agent->first > 0)
		memmove(agent->entries, agent->entries + agent->first,
			agent->count * sizeof(struct entry *));
	if (agent->count > 0)
		qsort(agent->entries, agent->count, sizeof(struct entry *), compare);
	agent->first = 0;
	agent->sorted = agent->count;
}

static bool peek(const struct source *source, const void **bytes, size_t *size)
{
	const struct agent_source *agent = source->state;
	if (agent->first == agent->sorted)
		return false;
	const struct entry *entry = agent->entries[agent->first];
	*bytes = entry;
	*size = offsetof(struct entry, record) + entry->record.size;
	return true;
}

static void consume(const struct source *source, size_t size)
{
	struct agent_source *agent = source->state;
	(void)size;
	struct entry *entry = agent->entries[agent->first++];
	agent->held_bytes -= offsetof(struct entry, record) + entry->record.size;
	free(entry);
}

static bool time_of(const struct source *source, const void *bytes, size_t size, uint64_t *time_ns)
{
	(void)source;
	const struct entry *entry = bytes;
	(void)size;
	*time_ns = entry->time_ns;
	return true;
}

/* DWARF numbers of struct channel_registers. */
#if defined(__x86_64__)
enum { IP = 16, SP = 7 };
static const uint8_t numbers[CHANNEL_REGISTERS] = {IP, SP, 6, 3, 12, 13, 14, 15};
#else
enum { IP = 32, SP = 31 };
static const uint8_t numbers[CHANNEL_REGISTERS] = {IP, SP, 19, 20, 21, 22, 23,
						   24, 25, 26, 27, 28, 29, 30};
#endif

/* Fills in registers and stack; false: they are not all there. */
static bool decode_stack(const struct entry *entry, struct record_sample *sample)
{
	const struct channel_record *from = &entry->record;
	struct channel_registers registers;
	size_t rest = from->size - sizeof(*from);
	if (!(from->flags & CHANNEL_STACK))
		return rest == 0 && from->stack_bytes == 0;
	if (rest < sizeof(registers) || rest - sizeof(registers) != from->stack_bytes)
		return false;
	memcpy(&registers, entry->rest, sizeof(registers));
	sample->abi = RECORD_REGISTERS_64;
	sample->regs.unknown = ~0ull;
	for (size_t i = 0; i < CHANNEL_REGISTERS; i++) {
		sample->regs.value[numbers[i]] = registers.value[i];
		sample->regs.unknown &= ~(1ull << numbers[i]);
	}
	sample->ip = sample->regs.value[IP];
	sample->stack = (struct uw_stack){.base = sample->regs.value[SP],
					  .bytes = entry->rest + sizeof(registers),
					  .size = from->stack_bytes,
					  .requested = from->stack_bytes,
					  .ends = (from->flags & CHANNEL_STACK_WHOLE) != 0};
	return true;
}

static bool decode(const struct source *source, const void *bytes, size_t size,
		   struct record *record)
{
	static const enum record_kind kinds[CHANNEL_KINDS] = {[CHANNEL_WAIT] = RECORD_SYNC_WAIT,
							      [CHANNEL_WAKE] = RECORD_SYNC_WAKE,
							      [CHANNEL_NEW] = RECORD_SYNC_NEW};
	const struct entry *entry = bytes;
	const struct channel_record *from = &entry->record;
	(void)source;
	if (size != offsetof(struct entry, record) + from->size || from->kind == 0 ||
	    from->kind >= CHANNEL_KINDS || from->type == 0 || from->type >= CHANNEL_TYPES ||
	    from->begin_ns > from->end_ns || from->end_ns > entry->time_ns)
		return false;
	*record = (struct record){
		.kind = kinds[from->kind],
		.time_ns = entry->time_ns,
		.pid = (uint32_t)(entry->owner >> 32),
		.tid = (uint32_t)entry->owner,
		.sync = {.sample = {.choice = RECORD_KEPT},
			 .object = from->object,
			 .begin_ns = from->begin_ns,
			 .end_ns = from->end_ns,
			 .site = from->site,
			 .joined = from->joined,
			 .type = from->type,
			 .is_timed_out = (from->flags & CHANNEL_TIMED_OUT) != 0,
			 .is_interrupted = (from->flags & CHANNEL_INTERRUPTED) != 0,
			 .is_crowded = (from->flags & CHANNEL_CROWDED) != 0,
			 .is_foreign = (from->flags & CHANNEL_FOREIGN) != 0,
			 .wakes_all = (from->flags & CHANNEL_ALL) != 0},
	};
	return decode_stack(entry, &record->sync.sample);
}

struct source agent_source_of(struct agent_source *agent)
{
	static const struct source_kind kind = {refresh, peek, consume, time_of, decode, take};
	return (struct source){.kind = &kind, .state = agent};
}

bool agent_source_add(struct agent_source *agent, struct drain *drain)
{
	struct source source = agent_source_of(agent);
	return drain_add_source(drain, &source);
}

void agent_source_counts(const struct agent_source *agent, struct agent_source_counts *counts)
{
	const struct channel *channel = agent->channel;
	*counts = agent->counts;
	counts->processes = channel->header.counts[CHANNEL_ATTACHED];
	counts->limited = channel->header.counts[CHANNEL_NO_ROOM];
	counts->foreign = channel->header.counts[CHANNEL_OTHER_NAMESPACE];
	counts->lost = channel->header.counts[CHANNEL_WITHOUT_RING];
	counts->unseen_news += channel->header.counts[CHANNEL_UNSEEN_NEWS];
	counts->brief += channel->header.counts[CHANNEL_BRIEF];
	counts->brief_ns += channel->header.counts[CHANNEL_BRIEF_NS];
	for (size_t ring = 0; ring < CHANNEL_RINGS; ring++) {
		const struct channel_control *control = &channel->controls[ring];
		counts->lost += control->lost;
		counts->nested += control->nested;
		counts->unseen_news += control->unseen_news;
		counts->brief += control->brief;
		counts->brief_ns += control->brief_ns;
	}
}
