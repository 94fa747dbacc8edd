#include "collector/waits/looked_waits.h"

#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include "collector/waits/wait_call.h"
#include "collector/waits/waits_private.h"
#include <errno.h>
#include <string.h>

/* A call that is restarted blocks again within this time, or it shows as another wait: the thread
 * may not get a CPU at once. */
#define RESTART_NS 100000000u
/* Between looks for waits to be written. */
#define FLUSH_NS 50000000u

/* A thread with a wait that is not written yet. */
struct looked_thread {
	struct hash_slot head;
	uint32_t tid;
	bool is_open;    /* it blocks, and was looked at */
	bool is_again;   /* it blocked again right after the wait's last block: a look will tell */
	bool is_stopped; /* the last look found it stopped */
	uint64_t start_ns;
	uint64_t block_ns; /* start of the last block looked at, */
	uint64_t ended_ns; /* and its end unless is_open */
	uint64_t lost_ns;  /* switches were lost then, and the last block went on; 0: were not */
	uint64_t sp;
	struct record_call call;
	struct profile_wait wait;
};

struct hidden_process {
	struct hash_slot head;
	uint32_t pid;
};

void looked_waits_init(struct looked_waits *looked)
{
	*looked = (struct looked_waits){.key = hash_key_draw()};
}

void looked_waits_finish(struct looked_waits *looked)
{
	hash_table_finish(&looked->threads);
	hash_table_finish(&looked->hidden);
}

static inline bool is_thread(const void *slot, const void *key)
{
	return ((const struct looked_thread *)slot)->tid == *(const uint32_t *)key;
}

static inline bool is_process(const void *slot, const void *key)
{
	return ((const struct hidden_process *)slot)->pid == *(const uint32_t *)key;
}

static struct looked_thread *find_thread(const struct looked_waits *looked, uint32_t tid)
{
	return hash_table_find(&looked->threads, sizeof(struct looked_thread),
			       hash_number(&looked->key, tid), is_thread, &tid);
}

static struct hidden_process *find_hidden(const struct looked_waits *looked, uint32_t pid)
{
	return hash_table_find(&looked->hidden, sizeof(struct hidden_process),
			       hash_number(&looked->key, pid), is_process, &pid);
}

/* After a loss a block may have ended unseen: what is known ends there, and what is left, in which
 * the thread may have waited again, is lost. */
static void end_last_block(struct waits *waits, struct looked_thread *thread, uint64_t end_ns)
{
	if (thread->lost_ns > 0) {
		uint64_t known_ns = thread->lost_ns < end_ns ? thread->lost_ns : end_ns;
		if (end_ns - known_ns >= waits->config.threshold_ns)
			waits->looked.unseen++;
		end_ns = known_ns;
		thread->wait.flags |= PROFILE_WAIT_UNENDED;
	}
	thread->is_open = false;
	thread->ended_ns = end_ns;
	/* Stopped, it waits for nothing but the signal. */
	if (!thread->is_stopped && end_ns > thread->block_ns)
		thread->wait.wait_ns += end_ns - thread->block_ns;
	if (thread->wait.blocks < UINT16_MAX)
		thread->wait.blocks++;
}

/* Writes the thread's wait, and forgets it. One that nobody saw end, and of which no loss told, is
 * lost. */
static void write_wait(struct waits *waits, struct looked_thread *thread)
{
	if (thread->is_open && thread->lost_ns > 0)
		end_last_block(waits, thread, waits->now_ns);
	if (thread->is_open)
		waits->looked.unseen++;
	else if (thread->wait.wait_ns > 0 || !(thread->wait.flags & PROFILE_WAIT_STOPPED))
		waits_put(waits, &thread->wait, thread->start_ns);
	hash_table_remove(&waits->looked.threads, sizeof(*thread), thread);
}

static const char *explain_hidden(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "not permitted: it belongs to another user, has other capabilities, or "
		       "forbids ptrace access (prctl PR_SET_DUMPABLE, "
		       "/proc/sys/kernel/yama/ptrace_scope)";
	case ETIMEDOUT:
		return "the kernel did not answer: the process holds the lock of its mappings";
	default:
		return strerror(error);
	}
}

void looked_waits_hide(struct waits *waits, uint32_t pid, int error, uint64_t time_ns)
{
	struct looked_waits *looked = &waits->looked;
	struct hidden_process *slot;
	if (find_hidden(looked, pid))
		return;
	emit_note(waits->emit, PROFILE_NOTE_WAITS_HIDDEN, time_ns, .pid = pid,
		  .text = explain_hidden(error));
	slot = hash_table_add(&looked->hidden, sizeof(*slot), hash_number(&looked->key, pid));
	if (slot)
		slot->pid = pid;
}

void looked_waits_forget_process(struct looked_waits *looked, uint32_t pid)
{
	struct hidden_process *slot = find_hidden(looked, pid);
	if (slot)
		hash_table_remove(&looked->hidden, sizeof(*slot), slot);
}

static uint64_t stack_pointer(const struct record_sample *sample)
{
	return sample->regs.value[registers_machine(sample->abi == RECORD_REGISTERS_32)->sp];
}

/* Whether the look shows the call of the thread's last block. */
static bool continues(const struct looked_thread *thread, const struct record_look *look)
{
	bool is_32bit = look->sample.abi == RECORD_REGISTERS_32;
	if (!thread->is_again || stack_pointer(&look->sample) != thread->sp)
		return false;
	if (wait_call_is_restart(&look->call, is_32bit))
		return true;
	/* Equal calls in a loop have equal arguments too, but no stop between them. */
	return (look->is_stopped || thread->is_stopped) &&
	       look->call.number == thread->call.number &&
	       memcmp(look->call.arguments, thread->call.arguments,
		      sizeof(thread->call.arguments)) == 0;
}

static void fill_wait(struct waits *waits, const struct record *record, struct process *process,
		      struct profile_wait *wait)
{
	const struct record_look *look = &record->look;
	bool is_32bit = look->sample.abi == RECORD_REGISTERS_32;
	struct profile_stack stack;
	waits_stack(waits, process, &look->sample, &stack);
	*wait = (struct profile_wait){
		.tid = record->tid,
		.syscall = PROFILE_NO_SYSCALL,
		.node = stack.node,
		.collapsed = stack.collapsed,
		.state = stack.state,
		.reason = stack.reason,
		.source = (uint8_t)waits->config.source,
		.flags = look->is_stopped ? PROFILE_WAIT_STOPPED : 0,
		.waker_state = PROFILE_STACK_NONE,
	};
	/* Stopped outside of a call: it waits for nothing but the signal. */
	if (!look->is_stopped || look->call.number != PROFILE_NO_SYSCALL)
		wait->object = waits_object_of_call(waits, process, &look->call, is_32bit,
						    look->file, &wait->syscall);
}

/* A block that nobody looked at in time. Its times are known, unless switches were lost since it
 * began: then it is lost. */
static void put_unseen(struct waits *waits, uint32_t pid, uint32_t tid, uint64_t since_ns,
		       uint64_t end_ns, uint8_t flags)
{
	static const struct profile_object object = {.kind = PROFILE_OBJECT_UNSEEN};
	struct looked_waits *looked = &waits->looked;
	if (end_ns - since_ns < waits->config.threshold_ns || find_hidden(looked, pid))
		return;
	if (since_ns <= looked->lost_ns || !tracker_find_process(waits->tracker, pid)) {
		looked->unseen++;
		return;
	}
	if (looked->unseen_object == 0)
		looked->unseen_object = emit_object(waits->emit, &object, NULL);
	const struct profile_wait wait = {
		.wait_ns = end_ns - since_ns,
		.tid = tid,
		.object = looked->unseen_object,
		.syscall = PROFILE_NO_SYSCALL,
		.blocks = 1,
		.state = PROFILE_STACK_SKIPPED,
		.reason = PROFILE_SKIP_BUDGET,
		.source = (uint8_t)waits->config.source,
		.flags = flags,
		.waker_state = PROFILE_STACK_NONE,
	};
	waits_put(waits, &wait, since_ns);
}

static void begin_wait(struct waits *waits, const struct record *record,
		       const struct waits_state *state)
{
	struct looked_waits *looked = &waits->looked;
	struct process *process = waits_process(waits, record->pid, record->time_ns);
	struct looked_thread *thread = NULL;
	if (process)
		thread = hash_table_add(&looked->threads, sizeof(*thread),
					hash_number(&looked->key, record->tid));
	/* The block's end finds no look. */
	if (!thread)
		return;
	thread->tid = record->tid;
	thread->start_ns = thread->block_ns = state->since_ns;
	thread->sp = stack_pointer(&record->sample);
	thread->call = record->look.call;
	thread->is_open = true;
	thread->is_stopped = record->look.is_stopped;
	fill_wait(waits, record, process, &thread->wait);
}

static void go_on(struct looked_thread *thread, const struct record_look *look,
		  const struct waits_state *state)
{
	thread->block_ns = state->since_ns;
	thread->is_open = true;
	thread->is_again = false;
	thread->is_stopped = look->is_stopped;
	thread->wait.flags |= PROFILE_WAIT_INTERRUPTED;
	if (look->is_stopped)
		thread->wait.flags |= PROFILE_WAIT_STOPPED;
}

static bool is_blocked(const struct waits_state *state)
{
	return state->state == PROFILE_STATE_BLOCKED || state->state == PROFILE_STATE_STOPPED;
}

void looked_waits_look(struct waits *waits, const struct record *record,
		       const struct waits_state *state)
{
	struct looked_waits *looked = &waits->looked;
	if (record->look.error != 0) {
		looked_waits_hide(waits, record->pid, record->look.error, record->time_ns);
		return;
	}
	if (!is_blocked(state) || state->since_ns > record->look.call.begin_ns) {
		looked->stale++;
		return;
	}
	struct looked_thread *thread = find_thread(looked, record->tid);
	if (thread && thread->is_open)
		return;
	if (thread && continues(thread, &record->look)) {
		go_on(thread, &record->look, state);
		return;
	}
	if (thread)
		write_wait(waits, thread);
	begin_wait(waits, record, state);
}

/* Writes waits whose calls surely ended. The table changes: each removal may move slots up, which
 * are looked at the next time. */
static void flush(struct waits *waits)
{
	struct looked_waits *looked = &waits->looked;
	if (waits->now_ns < looked->next_flush_ns)
		return;
	looked->next_flush_ns = waits->now_ns + FLUSH_NS;
	for (size_t i = 0; i < looked->threads.capacity; i++) {
		struct looked_thread *thread =
			(struct looked_thread *)hash_table_at(&looked->threads, sizeof(*thread), i);
		if (thread->head.number != 0 && !thread->is_open && !thread->is_again &&
		    thread->ended_ns + RESTART_NS < waits->now_ns)
			write_wait(waits, thread);
	}
}

static void end_block(struct waits *waits, const struct record *record,
		      const struct waits_state *state)
{
	struct looked_thread *thread = find_thread(&waits->looked, record->tid);
	if (thread && thread->is_open) {
		end_last_block(waits, thread, record->time_ns);
		if (thread->lost_ns > 0)
			write_wait(waits, thread);
		return;
	}
	if (thread)
		write_wait(waits, thread);
	if (state->state == PROFILE_STATE_BLOCKED)
		put_unseen(waits, record->pid, record->tid, state->since_ns, record->time_ns, 0);
}

void looked_waits_switch(struct waits *waits, const struct record *record,
			 const struct waits_state *state)
{
	flush(waits);
	if (!record->switched.out && is_blocked(state) && state->since_ns <= record->time_ns)
		end_block(waits, record, state);
	if (!record->switched.out || record->switched.preempted)
		return;
	struct looked_thread *thread = find_thread(&waits->looked, record->tid);
	if (thread && !thread->is_open && record->time_ns < thread->ended_ns + RESTART_NS)
		thread->is_again = true;
	else if (thread)
		write_wait(waits, thread);
}

/* Ends a wait that goes on, for all one knows. */
static void leave_open(struct waits *waits, struct looked_thread *thread, uint64_t end_ns)
{
	if (!thread->is_open)
		return;
	end_last_block(waits, thread, end_ns);
	thread->wait.flags |= PROFILE_WAIT_UNENDED;
}

void looked_waits_end_thread(struct waits *waits, const struct record *record)
{
	struct looked_thread *thread = find_thread(&waits->looked, record->tid);
	if (!thread)
		return;
	leave_open(waits, thread, record->time_ns);
	write_wait(waits, thread);
}

void looked_waits_lose(struct looked_waits *looked, uint64_t time_ns)
{
	looked->lost_ns = time_ns;
	for (size_t i = 0; i < looked->threads.capacity; i++) {
		struct looked_thread *thread =
			(struct looked_thread *)hash_table_at(&looked->threads, sizeof(*thread), i);
		if (thread->head.number != 0 && thread->is_open && thread->lost_ns == 0)
			thread->lost_ns = time_ns;
	}
}

void looked_waits_leave(struct waits *waits, uint32_t pid, uint32_t tid,
			const struct waits_state *state, uint64_t end_ns)
{
	const struct looked_thread *thread = find_thread(&waits->looked, tid);
	if (state->state == PROFILE_STATE_BLOCKED && state->since_ns < end_ns &&
	    !(thread && thread->is_open))
		put_unseen(waits, pid, tid, state->since_ns, end_ns, PROFILE_WAIT_UNENDED);
}

void looked_waits_end(struct waits *waits, uint64_t end_ns)
{
	struct looked_waits *looked = &waits->looked;
	size_t i = 0;
	while (i < looked->threads.capacity) {
		struct looked_thread *thread =
			(struct looked_thread *)hash_table_at(&looked->threads, sizeof(*thread), i);
		if (thread->head.number == 0) {
			i++;
			continue;
		}
		leave_open(waits, thread, end_ns);
		write_wait(waits, thread);
	}
	if (looked->unseen > 0)
		emit_note(waits->emit, PROFILE_NOTE_WAITS_LOST, end_ns, .value = looked->unseen,
			  .tid = waits->config.source);
}
