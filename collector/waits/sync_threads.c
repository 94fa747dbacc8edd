#include "collector/waits/sync_threads.h"

#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include "collector/waits/waits_private.h"
#include "containers/array.h"
#include <string.h>
#include <sys/syscall.h>

/* How long another source's wait is held back: the library's record comes when the call returns. */
#define HOLD_NS 100000000ull

enum {
	STRETCHES = 32, /* off the CPU, of a thread; a multiple of 4 */
	CALLS = 32,     /* seen by the library, likewise */
	HELD_MAX = 16384
};

/* Time off the CPU: one stretch, or several of long ago in one. */
struct stretch {
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t ready_ns;
	uint64_t blocked_ns;
	uint64_t blocks; /* times blocked */
};

struct span {
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct held {
	struct profile_wait wait;
	struct span span;
	uint64_t since_ns;
};

struct sync_thread {
	struct hash_slot head;
	uint32_t tid;
	uint64_t known_ns; /* its switches are known from here on; 0: not yet */
	struct stretch stretches[STRETCHES];
	struct span calls[CALLS];
	size_t stretch_count;
	size_t call_count;
	struct held *held; /* in order of time */
	size_t held_count;
	size_t held_capacity;
};

struct sync_process {
	struct hash_slot head;
	uint32_t pid;
};

void sync_threads_init(struct sync_threads *threads)
{
	*threads = (struct sync_threads){.key = hash_key_draw()};
}

static struct sync_thread *thread_at(const struct sync_threads *threads, size_t i)
{
	struct sync_thread *thread =
		(struct sync_thread *)hash_table_at(&threads->threads, sizeof(*thread), i);
	return thread->head.number != 0 ? thread : NULL;
}

void sync_threads_finish(struct sync_threads *threads)
{
	for (size_t i = 0; i < threads->threads.capacity; i++)
		if (thread_at(threads, i))
			free(thread_at(threads, i)->held);
	hash_table_finish(&threads->threads);
	hash_table_finish(&threads->processes);
}

static inline bool is_thread(const void *slot, const void *key)
{
	return ((const struct sync_thread *)slot)->tid == *(const uint32_t *)key;
}

static inline bool is_process(const void *slot, const void *key)
{
	return ((const struct sync_process *)slot)->pid == *(const uint32_t *)key;
}

static struct sync_thread *find_thread(const struct sync_threads *threads, uint32_t tid)
{
	return hash_table_find(&threads->threads, sizeof(struct sync_thread),
			       hash_number(&threads->key, tid), is_thread, &tid);
}

static struct sync_process *find_process(const struct sync_threads *threads, uint32_t pid)
{
	return hash_table_find(&threads->processes, sizeof(struct sync_process),
			       hash_number(&threads->key, pid), is_process, &pid);
}

static struct sync_thread *get_thread(struct sync_threads *threads, uint32_t tid)
{
	struct sync_thread *thread = find_thread(threads, tid);
	if (!thread)
		thread = hash_table_add(&threads->threads, sizeof(*thread),
					hash_number(&threads->key, tid));
	if (thread)
		thread->tid = tid;
	return thread;
}

void sync_threads_know(struct sync_threads *threads, uint32_t pid, uint32_t tid)
{
	if (!find_process(threads, pid)) {
		struct sync_process *process = hash_table_add(&threads->processes, sizeof(*process),
							      hash_number(&threads->key, pid));
		if (process)
			process->pid = pid;
	}
	get_thread(threads, tid);
}

bool sync_threads_forget(struct sync_threads *threads, uint32_t pid)
{
	struct sync_process *process = find_process(threads, pid);
	if (process)
		hash_table_remove(&threads->processes, sizeof(*process), process);
	return process != NULL;
}

/* Writes what a thread's waits of before the time held back. */
static void put_before(struct waits *waits, struct sync_thread *thread, uint64_t time_ns)
{
	size_t count = 0;
	while (count < thread->held_count && thread->held[count].since_ns < time_ns) {
		const struct held *held = &thread->held[count++];
		emit_wait(waits->emit, &held->wait, held->span.begin_ns);
	}
	thread->held_count -= count;
	if (count > 0)
		memmove(thread->held, thread->held + count,
			thread->held_count * sizeof(*thread->held));
}

static void put_all_before(struct waits *waits, uint64_t time_ns)
{
	struct sync_threads *threads = &waits->sync_threads;
	for (size_t i = 0; i < threads->threads.capacity; i++) {
		struct sync_thread *thread = thread_at(threads, i);
		if (thread)
			put_before(waits, thread, time_ns);
	}
}

void sync_threads_put_all(struct waits *waits)
{
	put_all_before(waits, UINT64_MAX);
}

static bool is_off(const struct waits_state *state)
{
	return state->state == PROFILE_STATE_BLOCKED || state->state == PROFILE_STATE_STOPPED ||
	       state->state == PROFILE_STATE_READY;
}

/* A switch's own time may belong to the run behind it (states/): the block ends where that begins,
 * which is known once the thread runs. */
static void set_end(struct sync_thread *thread, const struct waits_state *state)
{
	if (state->state != PROFILE_STATE_RUNNING || thread->stretch_count == 0)
		return;
	struct stretch *last = &thread->stretches[thread->stretch_count - 1];
	if (state->since_ns < last->from_ns || state->since_ns >= last->to_ns)
		return;
	last->to_ns = state->since_ns;
	*(last->blocks > 0 ? &last->blocked_ns : &last->ready_ns) = last->to_ns - last->from_ns;
}

/* The older half, two stretches in one. */
static void merge_stretches(struct sync_thread *thread)
{
	enum { OLD = STRETCHES / 2 };
	for (size_t i = 0; i < OLD; i += 2) {
		struct stretch one = thread->stretches[i];
		const struct stretch *next = &thread->stretches[i + 1];
		one.to_ns = next->to_ns;
		one.ready_ns += next->ready_ns;
		one.blocked_ns += next->blocked_ns;
		one.blocks += next->blocks;
		thread->stretches[i / 2] = one;
	}
	memmove(&thread->stretches[OLD / 2], &thread->stretches[OLD],
		(STRETCHES - OLD) * sizeof(*thread->stretches));
	thread->stretch_count = STRETCHES - OLD / 2;
}

static void add_stretch(struct sync_thread *thread, uint64_t from_ns, uint64_t to_ns,
			bool is_blocked)
{
	if (thread->stretch_count == STRETCHES)
		merge_stretches(thread);
	thread->stretches[thread->stretch_count++] =
		(struct stretch){.from_ns = from_ns,
				 .to_ns = to_ns,
				 .ready_ns = is_blocked ? 0 : to_ns - from_ns,
				 .blocked_ns = is_blocked ? to_ns - from_ns : 0,
				 .blocks = is_blocked};
}

void sync_threads_run(struct sync_threads *threads, uint32_t tid, const struct waits_state *state)
{
	struct sync_thread *thread = find_thread(threads, tid);
	if (thread)
		set_end(thread, state);
}

void sync_threads_switch(struct waits *waits, const struct record *record,
			 const struct waits_state *state)
{
	struct sync_threads *threads = &waits->sync_threads;
	if (threads->threads.count > 0 && waits->now_ns >= threads->next_flush_ns) {
		threads->next_flush_ns = waits->now_ns + HOLD_NS / 2;
		if (waits->now_ns > HOLD_NS)
			put_all_before(waits, waits->now_ns - HOLD_NS);
	}
	if (!find_process(threads, record->pid))
		return;
	struct sync_thread *thread = get_thread(threads, record->tid);
	if (!thread)
		return;
	if (record->switched.out) {
		set_end(thread, state);
		return;
	}
	if (!is_off(state) || state->since_ns > record->time_ns) {
		thread->known_ns = record->time_ns;
		return;
	}
	if (thread->known_ns == 0)
		thread->known_ns = state->since_ns;
	add_stretch(thread, state->since_ns, record->time_ns, state->state != PROFILE_STATE_READY);
}

void sync_threads_end(struct waits *waits, uint32_t tid)
{
	struct sync_thread *thread = find_thread(&waits->sync_threads, tid);
	if (!thread)
		return;
	put_before(waits, thread, UINT64_MAX);
	free(thread->held);
	hash_table_remove(&waits->sync_threads.threads, sizeof(*thread), thread);
}

static bool overlap(const struct span *one, const struct span *other)
{
	return one->begin_ns < other->end_ns && other->begin_ns < one->end_ns;
}

static bool is_covered(const struct sync_thread *thread, const struct span *span)
{
	size_t count = thread->call_count < CALLS ? thread->call_count : CALLS;
	for (size_t i = 0; i < count; i++)
		if (overlap(&thread->calls[i], span))
			return true;
	return false;
}

bool sync_threads_hold(struct waits *waits, const struct profile_wait *wait, uint64_t start_ns)
{
	struct sync_threads *threads = &waits->sync_threads;
	/* The library's first record of a process may be the one of this wait. */
	struct sync_thread *thread = waits->config.has_library ? get_thread(threads, wait->tid)
							       : find_thread(threads, wait->tid);
	/* Of one that nobody looked at the call is not known. */
	if (!thread || (wait->syscall != SYS_futex &&
			(wait->syscall != PROFILE_NO_SYSCALL || wait->node != 0)))
		return false;
	struct held held = {.wait = *wait,
			    .span = {start_ns, start_ns + wait->wait_ns + wait->ready_ns},
			    .since_ns = waits->now_ns};
	if (is_covered(thread, &held.span))
		return true;
	if (thread->held_count >= HELD_MAX ||
	    !array_reserve(&thread->held, &thread->held_capacity, thread->held_count + 1,
			   sizeof(*thread->held)))
		return false;
	thread->held[thread->held_count++] = held;
	return true;
}

/* The part of a stretch's time, or number, that lies in the call: several in one are taken as
 * evenly spread. */
static uint64_t part_of(uint64_t time_ns, const struct stretch *whole, uint64_t from, uint64_t to)
{
	uint64_t length = whole->to_ns - whole->from_ns;
	return to - from == length
		       ? time_ns
		       : (uint64_t)((double)time_ns * (double)(to - from) / (double)length);
}

/* Adds up the call's stretches off the CPU. */
static void fill_times(const struct sync_threads *threads, const struct sync_thread *thread,
		       struct sync_call *call)
{
	uint64_t ready_ns = 0;
	uint64_t blocks = 0;
	call->wait_ns = 0;
	for (size_t i = thread->stretch_count; i-- > 0;) {
		const struct stretch *one = &thread->stretches[i];
		if (one->to_ns <= call->begin_ns)
			break;
		/* What began before the call, or lasts beyond it, is none of its own. */
		uint64_t from = one->from_ns > call->begin_ns ? one->from_ns : call->begin_ns;
		uint64_t to = one->to_ns < call->end_ns ? one->to_ns : call->end_ns;
		if (from >= to)
			continue;
		ready_ns += part_of(one->ready_ns, one, from, to);
		call->wait_ns += part_of(one->blocked_ns, one, from, to);
		uint64_t blocks_in = part_of(one->blocks, one, from, to);
		bool is_one = one->ready_ns + one->blocked_ns == one->to_ns - one->from_ns;
		if (one->blocks == 0 || (blocks_in == 0 && !is_one))
			continue;
		call->start_ns = from;
		blocks += blocks_in > 0 ? blocks_in : 1;
		ready_ns = 0; /* only what comes before the first block is spinning */
	}
	call->blocks = blocks < UINT16_MAX ? (uint16_t)blocks : UINT16_MAX;
	uint64_t before = (blocks > 0 ? call->start_ns : call->end_ns) - call->begin_ns;
	call->spin_ns = before > ready_ns ? before - ready_ns : 0;
	call->is_known = thread->known_ns != 0 && thread->known_ns <= call->begin_ns &&
			 threads->lost_ns <= call->begin_ns;
}

/* Drops the held waits that overlap the call, youngest first; wait takes over what only they know:
 * wakers, and since when the thread could run. */
static void drop_covered(struct sync_thread *thread, const struct span *span,
			 struct profile_wait *wait)
{
	size_t i = thread->held_count;
	while (i > 0 && thread->held[i - 1].span.end_ns > span->begin_ns) {
		const struct held *held = &thread->held[--i];
		if (!overlap(&held->span, span))
			continue;
		wait->ready_ns += held->wait.ready_ns;
		if (held->wait.waker_tid != 0) {
			wait->waker_tid = held->wait.waker_tid;
			wait->waker_node = held->wait.waker_node;
			wait->waker_state = held->wait.waker_state;
			wait->waker_reason = held->wait.waker_reason;
		}
		memmove(&thread->held[i], &thread->held[i + 1],
			(thread->held_count - i - 1) * sizeof(*thread->held));
		thread->held_count--;
	}
}

void sync_threads_cover(struct waits *waits, uint32_t tid, struct sync_call *call,
			struct profile_wait *wait)
{
	struct span span = {call->begin_ns, call->end_ns};
	struct sync_thread *thread = find_thread(&waits->sync_threads, tid);
	call->start_ns = call->begin_ns;
	call->blocks = 0;
	call->spin_ns = 0;
	call->is_known = false;
	if (thread)
		fill_times(&waits->sync_threads, thread, call);
	if (!call->is_known) {
		call->start_ns = call->begin_ns;
		call->wait_ns = call->end_ns - call->begin_ns;
		call->spin_ns = 0;
		call->blocks = 1;
	}
	if (!thread)
		return;
	drop_covered(thread, &span, wait);
	/* Others have no record of shorter ones. */
	if (call->end_ns - call->begin_ns >= waits->config.threshold_ns)
		thread->calls[thread->call_count++ % CALLS] = span;
}
