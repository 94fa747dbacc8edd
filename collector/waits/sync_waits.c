#include "collector/waits/sync_waits.h"

#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include "collector/waits/waits_private.h"
#include "containers/array.h"
#include <string.h>

/* A waker writes its record right after its call, unless it loses its CPU in between. */
#define FRESH_NS     1000000ull
#define UNMATCHED_NS 20000000ull

struct sync_pending {
	struct profile_wait wait;
	uint64_t start_ns;
	uint64_t begin_ns; /* of the call */
	uint64_t end_ns;
	uint64_t due_ns;
	uint64_t address;
	uint32_t pid;
	uint8_t type;
};

void sync_waits_finish(struct sync_waits *waits)
{
	free(waits->fresh.items);
	free(waits->unmatched.items);
}

static bool put(struct sync_queue *queue, const struct sync_pending *pending)
{
	if (queue->first > 0 && queue->count == queue->capacity) {
		queue->count -= queue->first;
		memmove(queue->items, queue->items + queue->first,
			queue->count * sizeof(*queue->items));
		queue->first = 0;
	}
	if (!array_reserve(&queue->items, &queue->capacity, queue->count + 1,
			   sizeof(*queue->items)))
		return false;
	queue->items[queue->count++] = *pending;
	return true;
}

static bool wants_waker(const struct sync_pending *pending)
{
	return pending->wait.waker_tid == 0 &&
	       (pending->wait.flags & (PROFILE_WAIT_TIMED_OUT | PROFILE_WAIT_INTERRUPTED)) == 0;
}

/* Fills in the waker, if it is known by now. */
static bool match(struct waits *waits, struct sync_pending *pending)
{
	struct profile_wait *wait = &pending->wait;
	if (!wants_waker(pending))
		return true;
	const struct sync_wake *wake =
		sync_objects_match(&waits->sync_objects, pending->pid, pending->address,
				   pending->begin_ns, pending->end_ns, wait->tid,
				   pending->type == PROFILE_SYNC_CONDITION);
	if (!wake)
		return false;
	wait->waker_tid = wake->tid;
	wait->waker_node = wake->node;
	wait->waker_state = wake->state;
	wait->waker_reason = wake->reason;
	return true;
}

static void advance_queue(struct waits *waits, struct sync_queue *queue, uint64_t now_ns,
			  bool is_last)
{
	while (queue->first < queue->count && queue->items[queue->first].due_ns <= now_ns) {
		struct sync_pending pending = queue->items[queue->first++];
		bool is_matched = match(waits, &pending);
		pending.due_ns += UNMATCHED_NS;
		if (is_matched || is_last || !put(&waits->sync_waits.unmatched, &pending))
			emit_wait(waits->emit, &pending.wait, pending.start_ns);
	}
}

void sync_waits_advance(struct waits *waits)
{
	advance_queue(waits, &waits->sync_waits.fresh, waits->now_ns, false);
	advance_queue(waits, &waits->sync_waits.unmatched, waits->now_ns, true);
}

/* The stack of a record, as far as it has one: else the place that the call returns to. */
static void find_node(struct waits *waits, struct process *process, const struct record_sync *sync,
		      struct profile_stack *stack)
{
	if (sync->sample.abi != RECORD_REGISTERS_NONE) {
		waits_stack(waits, process, &sync->sample, stack);
		return;
	}
	struct record_sample sample = {.abi = RECORD_REGISTERS_64, .choice = RECORD_LEFT_OUT};
	sample.regs.value[registers_machine(false)->ip] = sync->site - 1; /* inside the call */
	waits_stack(waits, process, &sample, stack);
	if (waits->config.without_stacks)
		return;
	stack->state = PROFILE_STACK_SKIPPED;
	stack->reason = sync->is_foreign ? PROFILE_SKIP_OTHER_STACK : PROFILE_SKIP_BUDGET;
}

static uint32_t find_object(struct waits *waits, const struct process *process,
			    const struct record_sync *sync)
{
	struct profile_object object = {
		.kind = PROFILE_OBJECT_SYNC,
		.address = sync->object,
		.type = sync->type,
		.created = sync_objects_created(&waits->sync_objects, process->pid, sync->object),
	};
	return wait_objects_get(&waits->objects, process, &object, NULL);
}

static uint32_t cut_ns(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void apply_wait(struct waits *waits, const struct record *record, struct process *process)
{
	const struct record_sync *sync = &record->sync;
	struct profile_stack stack;
	find_node(waits, process, sync, &stack);
	struct sync_pending pending = {
		.wait = {.tid = record->tid,
			 .object = find_object(waits, process, sync),
			 .node = stack.node,
			 .collapsed = stack.collapsed,
			 .state = stack.state,
			 .reason = stack.reason,
			 .syscall = PROFILE_NO_SYSCALL,
			 .source = PROFILE_WAIT_BY_LIBRARY,
			 .flags = (uint8_t)((sync->is_timed_out ? PROFILE_WAIT_TIMED_OUT : 0) |
					    (sync->is_interrupted ? PROFILE_WAIT_INTERRUPTED : 0)),
			 .waker_state = PROFILE_STACK_NONE},
		.begin_ns = sync->begin_ns,
		.end_ns = sync->end_ns,
		.due_ns = record->time_ns + FRESH_NS,
		.address = sync->object,
		.pid = record->pid,
		.type = sync->type,
	};
	struct sync_call call = {.begin_ns = sync->begin_ns, .end_ns = sync->end_ns};
	sync_threads_cover(waits, record->tid, &call, &pending.wait);
	/* Who waits for a spin lock never blocks; without switches that is all that is known. */
	bool only_spins = !call.is_known && sync->type == PROFILE_SYNC_SPIN;
	pending.start_ns = call.start_ns;
	if (pending.wait.ready_ns > call.wait_ns)
		pending.wait.ready_ns = call.wait_ns;
	/* The switches tell when it ran, not when it was woken. */
	pending.wait.wait_ns = only_spins ? 0 : call.wait_ns - pending.wait.ready_ns;
	pending.wait.spin_ns = cut_ns(only_spins ? call.wait_ns : call.spin_ns);
	pending.wait.blocks = only_spins ? 0 : call.blocks;
	if (sync->type == PROFILE_SYNC_JOIN && !sync->is_timed_out)
		pending.wait.waker_tid = sync->joined;
	if (!put(&waits->sync_waits.fresh, &pending))
		emit_wait(waits->emit, &pending.wait, pending.start_ns);
}

static void apply_wake(struct waits *waits, const struct record *record, struct process *process)
{
	const struct record_sync *sync = &record->sync;
	struct profile_stack stack;
	find_node(waits, process, sync, &stack);
	struct sync_wake wake = {
		.begin_ns = sync->begin_ns,
		.end_ns = sync->end_ns,
		.tid = record->tid,
		.node = stack.node,
		.state = stack.state,
		.reason = stack.reason,
		.wakes_all = sync->wakes_all,
	};
	sync_objects_wake(&waits->sync_objects, record->pid, sync->object, &wake);
}

static void apply_new(struct waits *waits, const struct record *record, struct process *process)
{
	struct profile_stack stack;
	find_node(waits, process, &record->sync, &stack);
	sync_objects_make(&waits->sync_objects, record->pid, record->sync.object, stack.node);
}

void sync_waits_apply(struct waits *waits, const struct record *record,
		      const struct waits_state *state)
{
	/* What the target says of itself: nobody else's processes and threads come to be by it. */
	struct process *process = tracker_find_process(waits->tracker, record->pid);
	if (!process || !tracker_find_thread(waits->tracker, record->pid, record->tid)) {
		/* The library is in children, too, that are not collected. */
		bool is_wanted = process || !waits->config.without_children;
		waits->sync_waits.unknown += is_wanted && record->kind == RECORD_SYNC_WAIT;
		return;
	}
	tracker_prepare(waits->tracker, process, record->time_ns);
	sync_threads_know(&waits->sync_threads, record->pid, record->tid);
	sync_threads_run(&waits->sync_threads, record->tid, state);
	if (record->kind == RECORD_SYNC_WAIT)
		apply_wait(waits, record, process);
	else if (record->kind == RECORD_SYNC_WAKE)
		apply_wake(waits, record, process);
	else
		apply_new(waits, record, process);
}

void sync_waits_end(struct waits *waits, uint64_t end_ns)
{
	struct sync_waits *sync = &waits->sync_waits;
	advance_queue(waits, &sync->fresh, UINT64_MAX, true);
	advance_queue(waits, &sync->unmatched, UINT64_MAX, true);
	if (sync->unknown > 0)
		emit_note(waits->emit, PROFILE_NOTE_WAITS_LOST, end_ns, .value = sync->unknown,
			  .tid = PROFILE_WAIT_BY_LIBRARY);
}
