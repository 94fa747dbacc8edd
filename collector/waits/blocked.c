#include "collector/waits/blocked.h"

#include "collector/perf/record.h"
#include "containers/array.h"
#include <stdlib.h>
#include <string.h>

/* A thread by its latest switch. */
struct thread_slot {
	struct hash_slot head;
	uint32_t tid;
	uint32_t pid;
	uint8_t kind; /* enum record_switch_kind */
	bool is_changed;
	bool is_queued; /* since this switch */
	uint64_t time_ns;
};

void blocked_init(struct blocked *blocked)
{
	*blocked = (struct blocked){.key = hash_key_draw()};
}

void blocked_finish(struct blocked *blocked)
{
	hash_table_finish(&blocked->threads);
	free(blocked->changed);
	free(blocked->queue);
}

static inline bool is_thread(const void *slot, const void *key)
{
	return ((const struct thread_slot *)slot)->tid == *(const uint32_t *)key;
}

static struct thread_slot *find(const struct blocked *blocked, uint32_t tid)
{
	return hash_table_find(&blocked->threads, sizeof(struct thread_slot),
			       hash_number(&blocked->key, tid), is_thread, &tid);
}

static struct thread_slot *find_or_add(struct blocked *blocked, uint32_t tid)
{
	struct thread_slot *slot = find(blocked, tid);
	if (slot)
		return slot;
	slot = hash_table_add(&blocked->threads, sizeof(*slot), hash_number(&blocked->key, tid));
	if (slot)
		slot->tid = tid;
	return slot;
}

void blocked_note(struct blocked *blocked, const struct record_switch *found)
{
	struct thread_slot *slot = find_or_add(blocked, found->tid);
	if (!slot || found->time_ns < slot->time_ns)
		return;
	slot->time_ns = found->time_ns;
	slot->pid = found->pid;
	slot->kind = (uint8_t)found->kind;
	slot->is_queued = false;
	if (slot->is_changed ||
	    !array_reserve(&blocked->changed, &blocked->changed_capacity,
			   blocked->changed_count + 1, sizeof(*blocked->changed)))
		return;
	slot->is_changed = true;
	blocked->changed[blocked->changed_count++] = found->tid;
}

/* Makes room for one more in the queue. */
static bool reserve(struct blocked *blocked)
{
	if (blocked->first > 0 && blocked->count == blocked->capacity) {
		memmove(blocked->queue, blocked->queue + blocked->first,
			(blocked->count - blocked->first) * sizeof(*blocked->queue));
		blocked->count -= blocked->first;
		blocked->first = 0;
	}
	return array_reserve(&blocked->queue, &blocked->capacity, blocked->count + 1,
			     sizeof(*blocked->queue));
}

static void settle_thread(struct blocked *blocked, uint32_t tid)
{
	struct thread_slot *slot = find(blocked, tid);
	if (!slot)
		return;
	slot->is_changed = false;
	if (slot->kind == RECORD_ENDED) {
		hash_table_remove(&blocked->threads, sizeof(*slot), slot);
		return;
	}
	if (slot->kind != RECORD_BLOCKED || slot->is_queued || !reserve(blocked))
		return;
	slot->is_queued = true;
	blocked->queue[blocked->count++] =
		(struct blocked_thread){slot->time_ns, slot->pid, slot->tid};
}

static int compare_times(const void *left, const void *right)
{
	const struct blocked_thread *a = left;
	const struct blocked_thread *b = right;
	return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

void blocked_settle(struct blocked *blocked)
{
	size_t waiting = blocked->count - blocked->first;
	for (size_t i = 0; i < blocked->changed_count; i++)
		settle_thread(blocked, blocked->changed[i]);
	blocked->changed_count = 0;
	/* Those that waited before have been blocked longer. */
	size_t added = blocked->count - blocked->first - waiting;
	if (added > 1)
		qsort(blocked->queue + blocked->first + waiting, added, sizeof(*blocked->queue),
		      compare_times);
}

bool blocked_first(const struct blocked *blocked, uint64_t *since_ns)
{
	if (blocked->first == blocked->count)
		return false;
	*since_ns = blocked->queue[blocked->first].since_ns;
	return true;
}

bool blocked_take(struct blocked *blocked, uint64_t due_ns, struct blocked_thread *taken)
{
	while (blocked->first < blocked->count &&
	       blocked->queue[blocked->first].since_ns <= due_ns) {
		*taken = blocked->queue[blocked->first++];
		const struct thread_slot *slot = find(blocked, taken->tid);
		if (slot && slot->kind == RECORD_BLOCKED && slot->time_ns == taken->since_ns)
			return true;
	}
	return false;
}
