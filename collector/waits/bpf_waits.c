#include "collector/waits/bpf_waits.h"

#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include "collector/proc/asker.h"
#include "collector/result/emit.h"
#include "collector/waits/look.h"
#include "collector/waits/waits_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_NAME_SIZE = 40 };

/* The last thread that woke another one, by its stack. */
struct wake {
	struct hash_slot head;
	uint32_t tid; /* of the woken thread */
	uint64_t id;
	struct profile_stack stack;
};

/* Numbers of the machine's 64-bit calls in which a timer ends the wait. */
#if defined(__x86_64__)
enum {
	CALL_POLL = 7,
	CALL_SELECT = 23,
	CALL_NANOSLEEP = 35,
	CALL_CLOCK_NANOSLEEP = 230,
	CALL_EPOLL_WAIT = 232,
	CALL_PSELECT6 = 270,
	CALL_PPOLL = 271,
	CALL_EPOLL_PWAIT = 281,
	CALL_EPOLL_PWAIT2 = 441
};
#else
enum {
	CALL_EPOLL_PWAIT = 22,
	CALL_PSELECT6 = 72,
	CALL_PPOLL = 73,
	CALL_NANOSLEEP = 101,
	CALL_CLOCK_NANOSLEEP = 115,
	CALL_EPOLL_PWAIT2 = 441,
	/* There are none of these. */
	CALL_POLL = PROFILE_NO_SYSCALL,
	CALL_SELECT = PROFILE_NO_SYSCALL,
	CALL_EPOLL_WAIT = PROFILE_NO_SYSCALL
};
#endif

void bpf_waits_init(struct bpf_waits *bpf)
{
	*bpf = (struct bpf_waits){.key = hash_key_draw()};
}

void bpf_waits_finish(struct bpf_waits *bpf)
{
	hash_table_finish(&bpf->wakes);
	asker_destroy(bpf->asker);
}

static inline bool is_of(const void *slot, const void *key)
{
	return ((const struct wake *)slot)->tid == *(const uint32_t *)key;
}

static struct wake *find_wake(const struct bpf_waits *bpf, uint32_t tid)
{
	return hash_table_find(&bpf->wakes, sizeof(struct wake), hash_number(&bpf->key, tid), is_of,
			       &tid);
}

void bpf_waits_wake(struct waits *waits, const struct record *record)
{
	struct bpf_waits *bpf = &waits->bpf;
	struct process *process = waits_process(waits, record->wait.waker_pid, record->time_ns);
	struct wake *wake = process ? find_wake(bpf, record->tid) : NULL;
	if (process && !wake)
		wake = hash_table_add(&bpf->wakes, sizeof(*wake),
				      hash_number(&bpf->key, record->tid));
	/* The wait then has no waker's stack. */
	if (!wake)
		return;
	wake->tid = record->tid;
	wake->id = record->wait.wake;
	waits_stack(waits, process, &record->sample, &wake->stack);
}

void bpf_waits_end_thread(struct bpf_waits *bpf, const struct record *record)
{
	struct wake *wake = find_wake(bpf, record->tid);
	if (wake)
		hash_table_remove(&bpf->wakes, sizeof(*wake), wake);
}

static bool is_sleep(uint16_t syscall)
{
	return syscall == CALL_NANOSLEEP || syscall == CALL_CLOCK_NANOSLEEP;
}

/* Whether the call ended since its time was over. A sleep always does. */
static bool is_timed_out(const struct record_wait *wait, uint16_t syscall)
{
	if (wait->is_unended)
		return false;
	switch (syscall) {
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
	case CALL_PPOLL:
	case CALL_PSELECT6:
#if defined(__x86_64__)
	case CALL_EPOLL_WAIT:
	case CALL_POLL:
	case CALL_SELECT:
#endif
		return wait->result == 0;
	default:
		return wait->result == -ETIMEDOUT;
	}
}

static uint8_t flags_of(const struct record_wait *wait, uint16_t syscall)
{
	return (uint8_t)((is_timed_out(wait, syscall) ? PROFILE_WAIT_TIMED_OUT : 0) |
			 (wait->is_interrupted || wait->result == -EINTR ? PROFILE_WAIT_INTERRUPTED
									 : 0) |
			 (wait->stopped_ns > 0 ? PROFILE_WAIT_STOPPED : 0) |
			 (wait->is_unended ? PROFILE_WAIT_UNENDED : 0) |
			 (wait->is_before ? PROFILE_WAIT_BEFORE : 0));
}

/* Of a wait that is over when its record is made, nothing is known but, in a page fault, the code.
 */
static void find_stack(struct waits *waits, struct process *process, const struct record_wait *wait,
		       struct profile_stack *stack)
{
	struct record_sample leaf = {.abi = wait->sample.abi, .choice = RECORD_LEFT_OUT};
	if (!wait->is_away) {
		waits_stack(waits, process, &wait->sample, stack);
		return;
	}
	*stack = (struct profile_stack){.state = PROFILE_STACK_SKIPPED,
					.reason = PROFILE_SKIP_NO_REGS};
	if (wait->call.number != PROFILE_NO_SYSCALL)
		return;
	if (leaf.abi == RECORD_REGISTERS_NONE)
		leaf.abi = wait->is_32bit ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	leaf.regs.value[registers_machine(leaf.abi == RECORD_REGISTERS_32)->ip] =
		wait->call.arguments[0];
	waits_stack(waits, process, &leaf, stack);
	stack->state = PROFILE_STACK_NONE;
	stack->reason = PROFILE_SKIP_NOT_SKIPPED;
}

/* A timer's wake-up names whatever it interrupted, as far as that cannot be told apart (bpf/), and
 * who kills a thread ends no wait. */
static void find_waker(const struct waits *waits, const struct record *record,
		       struct profile_wait *wait)
{
	const struct wake *wake = find_wake(&waits->bpf, record->tid);
	wait->waker_state = PROFILE_STACK_NONE;
	if ((wait->flags & (PROFILE_WAIT_TIMED_OUT | PROFILE_WAIT_UNENDED)) ||
	    is_sleep(wait->syscall))
		return;
	wait->waker_tid = record->wait.waker_tid;
	if (!wake || wait->waker_tid == 0 || wake->id != record->wait.wake)
		return;
	wait->waker_node = wake->stack.node;
	wait->waker_state = wake->stack.state;
	wait->waker_reason = wake->stack.reason;
}

/* A pipe's or socket's name as /proc has it, which asks nobody: the process may be gone. NULL: of
 * another file, or of none. */
static const char *file_name(const struct record_wait *wait, char name[FILE_NAME_SIZE])
{
	const char *kind = S_ISFIFO(wait->file_mode) ? "pipe" : "socket";
	if (!S_ISFIFO(wait->file_mode) && !S_ISSOCK(wait->file_mode))
		return NULL;
	snprintf(name, FILE_NAME_SIZE, "%s:[%llu]", kind, (unsigned long long)wait->file_inode);
	return name;
}

/* Begins a wait of an attached thread with the thread, whose state the collector looked at before
 * or after BPF added it: with the collection, or later. */
static void begin_with_thread(const struct waits *waits, const struct record *record,
			      struct profile_wait *wait, uint64_t *start_ns)
{
	const struct thread *thread = tracker_find_thread(waits->tracker, record->pid, record->tid);
	uint64_t end_ns = *start_ns + wait->wait_ns;
	if (!record->wait.is_before || record->wait.blocks != 1 || !thread)
		return;
	uint64_t from_ns = thread->start_ns > waits->start_ns ? thread->start_ns : waits->start_ns;
	*start_ns = from_ns < end_ns ? from_ns : end_ns;
	wait->wait_ns = end_ns - *start_ns;
}

void bpf_waits_wait(struct waits *waits, const struct record *record)
{
	char name[FILE_NAME_SIZE];
	const struct record_wait *in = &record->wait;
	struct process *process = waits_process(waits, record->pid, record->time_ns);
	struct profile_stack stack;
	uint16_t syscall = PROFILE_NO_SYSCALL;
	uint32_t object = 0;
	if (!process) {
		waits->bpf.unseen++;
		return;
	}
	if (!in->is_of_any_call)
		object = waits_object_of_call(waits, process, &in->call, in->is_32bit,
					      file_name(in, name), &syscall);
	find_stack(waits, process, in, &stack);
	struct profile_wait wait = {
		.wait_ns = in->blocked_ns,
		.ready_ns = in->ready_ns,
		.tid = record->tid,
		.object = object,
		.node = stack.node,
		.blocks = in->blocks < UINT16_MAX ? (uint16_t)in->blocks : UINT16_MAX,
		.collapsed = stack.collapsed,
		.state = stack.state,
		.reason = stack.reason,
		.source = PROFILE_WAIT_BY_BPF,
	};
	wait.syscall = syscall;
	wait.flags = flags_of(in, syscall);
	find_waker(waits, record, &wait);
	uint64_t start_ns = in->call.begin_ns;
	begin_with_thread(waits, record, &wait, &start_ns);
	waits_put(waits, &wait, start_ns);
}

static void fill_stack(struct record_wait *wait, const struct look_question *asked)
{
	const struct look_pointers *pointers = &asked->look.pointers;
	registers_from_pointers(pointers->sp, pointers->pc, pointers->is_32bit, true,
				&wait->sample.regs);
	wait->sample.abi = pointers->is_32bit ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	wait->sample.choice = RECORD_KEPT;
	wait->sample.stack = (struct uw_stack){.base = pointers->sp,
					       .bytes = asked->stack,
					       .size = asked->look.stack_size,
					       .requested = asked->look.stack_size,
					       .ends = asked->look.stack_size < LOOK_STACK_MAX};
}

/* Whether the look shows the call in which the thread waited at the end. */
static bool shows_wait(const struct look *look, const struct waits_unended *unended)
{
	const struct record_call *call = &look->pointers.call;
	if (!look->is_blocked || look->is_stopped || look->error != 0 ||
	    call->number == PROFILE_NO_SYSCALL)
		return false;
	return unended->begin_ns == 0 || call->number == unended->call.number;
}

/* Since when the thread is in its present block, and until when, by its source and by its state:
 * what the states call running is no wait. */
struct block {
	uint64_t begin_ns;
	uint64_t end_ns;
};

static struct block find_block(const struct waits_unended *unended, const struct waits_state *state,
			       uint64_t start_ns, uint64_t end_ns)
{
	struct block block = {unended->block_ns, end_ns};
	bool is_running =
		state->state == PROFILE_STATE_RUNNING || state->state == PROFILE_STATE_READY;
	bool is_seen = unended->begin_ns > 0;
	if (is_seen ? unended->block_ns == 0 : state->state != PROFILE_STATE_BLOCKED)
		return (struct block){end_ns, end_ns};
	if (state->state == PROFILE_STATE_BLOCKED && state->since_ns > block.begin_ns)
		block.begin_ns = state->since_ns;
	if (is_running && state->since_ns > block.begin_ns && state->since_ns < end_ns)
		block.end_ns = state->since_ns;
	if (block.begin_ns < start_ns)
		block.begin_ns = start_ns;
	if (block.begin_ns > block.end_ns)
		block.begin_ns = block.end_ns;
	return block;
}

/* The wait without its stack. false: too short for a record. */
static bool fill_unended(const struct waits *waits, const struct waits_unended *unended,
			 const struct waits_state *state, struct record *record)
{
	const struct thread *thread =
		tracker_find_thread(waits->tracker, unended->pid, unended->tid);
	uint64_t start_ns = thread && thread->start_ns > unended->first_ns ? thread->start_ns
									   : unended->first_ns;
	struct block block = find_block(unended, state, start_ns, record->time_ns);
	uint64_t present_ns = block.end_ns - block.begin_ns;
	uint64_t begin_ns = unended->begin_ns > start_ns ? unended->begin_ns : start_ns;
	record->wait.call = unended->call;
	record->wait.call.begin_ns =
		unended->blocks > 0 && begin_ns < block.begin_ns ? begin_ns : block.begin_ns;
	record->wait.blocked_ns = unended->blocked_ns + present_ns;
	record->wait.ready_ns = unended->ready_ns;
	record->wait.stopped_ns = unended->stopped_ns;
	record->wait.blocks = unended->blocks + (present_ns > 0);
	record->wait.is_interrupted = unended->is_interrupted;
	record->wait.is_32bit = unended->is_32bit;
	record->wait.is_unended = true;
	record->wait.is_away = true;
	return record->wait.blocks > 0 &&
	       record->wait.blocked_ns + record->wait.ready_ns >= waits->config.threshold_ns;
}

/* Has a look show what the thread waits for. NULL: there is none. */
static struct look_question *look_at(struct waits *waits, const struct waits_unended *unended,
				     uint64_t time_ns)
{
	struct look_question *asked = look_question_create();
	if (!waits->bpf.asker)
		waits->bpf.asker = asker_create(ASKER_PATIENCE_NS);
	if (!asked || !waits->bpf.asker) {
		free(asked);
		return NULL;
	}
	asked->pid = unended->pid;
	asked->tid = unended->tid;
	if (look_ask(waits->bpf.asker, false, asked))
		return asked;
	looked_waits_hide(waits, unended->pid, ETIMEDOUT, time_ns);
	return NULL;
}

/* Completes the wait with what the look shows. Nobody knows the call of a thread that never blocked
 * since it is followed, but the look. */
static void take_look(const struct look_question *asked, const struct waits_unended *unended,
		      struct record_wait *wait)
{
	uint64_t begin_ns = wait->call.begin_ns;
	if (!shows_wait(&asked->look, unended))
		return;
	fill_stack(wait, asked);
	wait->call = asked->look.pointers.call;
	wait->call.begin_ns = begin_ns;
	wait->is_32bit = asked->look.pointers.is_32bit;
	wait->is_away = false;
}

void waits_put_unended(struct waits *waits, const struct waits_unended *unended,
		       const struct waits_state *state, uint64_t end_ns)
{
	struct record record = {.kind = RECORD_WAIT,
				.time_ns = end_ns,
				.pid = unended->pid,
				.tid = unended->tid};
	if (!fill_unended(waits, unended, state, &record))
		return;
	struct look_question *asked = look_at(waits, unended, end_ns);
	bool is_hidden = asked && asked->look.error != 0;
	if (asked)
		take_look(asked, unended, &record.wait);
	if (is_hidden)
		looked_waits_hide(waits, unended->pid, asked->look.error, end_ns);
	if (!record.wait.is_away || unended->begin_ns > 0)
		bpf_waits_wait(waits, &record);
	else if (!is_hidden)
		waits->bpf.unseen++;
	free(asked);
}

void bpf_waits_end(struct waits *waits, uint64_t end_ns)
{
	if (waits->bpf.unseen > 0)
		emit_note(waits->emit, PROFILE_NOTE_WAITS_LOST, end_ns, .value = waits->bpf.unseen,
			  .tid = PROFILE_WAIT_BY_BPF);
}
