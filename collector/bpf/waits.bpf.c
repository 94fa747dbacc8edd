/*
 * The waits of followed threads. A switch away from a thread that sleeps stores the time and the
 * call that it is in; the wake-up who ended the wait; the switch back adds both up; the end of the
 * call sends them with the stack, if they reached the threshold. A ring that is filling up takes no
 * stacks: the waits of threads that wake at once need its room. No program runs at the
 * start of a system call. At the end of most calls one flag is read.
 *
 * Only helpers of Linux 5.17 are used, and the arguments of sched_switch of 5.19.
 */
#include <linux/bpf.h>

#include "collector/bpf/stack_copy.bpf.h"
#include "collector/bpf/wait_call.bpf.h"
#include "collector/bpf/wait_threads.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Set by the loader; waits_source.h describes them. */
__u64 threshold_ns = 10000;
__u64 always_ns = 1000000;
__u32 share = ~0u;
__u32 wake_share = ~0u;
__u32 cpu_count = 1;

__u64 lost = 0; /* waits for which a ring had no room */

/* Where the kernel has the outputs, as a number: the verifier adds nothing to a pointer to a map.
 */
static volatile __u64 outputs_address;

/* The slots of a CPU; cpu_count of each. */
enum { SLOT_EXIT, SLOT_SWITCH, SLOT_WAKE };

/* A wake-up may come before its sleeper's switch is seen: between the kernel's decision and the
 * program at the switch, with interrupts off. */
enum { WAKE_EARLY_NS = 20000 };

/* Of a ring: the rest takes no stacks of waits, or of wakers. One call may wake thousands, and
 * sends its stack for each before a reader comes. */
enum { WAITS_EIGHTHS = 4, WAKES_EIGHTHS = 2 };

/* By CPU: whether the running thread has something to send, or to forget, at the end of its call.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, __u32);
} due SEC(".maps");

static void set_due(_Bool is_due)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 *flag = bpf_map_lookup_elem(&due, &cpu);
	if (flag)
		*flag = is_due;
}

static struct slot *find_slot(__u32 program)
{
	__u32 key = bpf_get_smp_processor_id() + program * cpu_count;
	return bpf_map_lookup_elem(&slots, &key);
}

static _Bool has_reached(const struct wait *wait)
{
	return wait->blocked_ns + wait->ready_ns >= threshold_ns;
}

/* The clock of another CPU may be slightly behind. */
static __u64 since(__u64 then, __u64 now)
{
	return now > then ? now - then : 0;
}

static void fill_head(struct wait_head *head, const struct wait *wait, __u64 now)
{
	head->magic = WAIT_HEAD_MAGIC;
	head->flags = wait->flags;
	head->age_ns = since(wait->begin_ns, now);
	head->woken_ns = since(wait->wake_ns, now);
	head->blocked_ns = wait->blocked_ns;
	head->ready_ns = wait->ready_ns;
	head->stopped_ns = wait->stopped_ns;
	head->wake_ns = wait->wake_ns;
	head->waker_pid = wait->waker_pid;
	head->waker_tid = wait->waker_tid;
	head->syscall = wait->syscall;
	head->blocks = wait->blocks;
	__builtin_memcpy(head->args, wait->args, sizeof(head->args));
	head->file_inode = head->file_mode = 0;
}

/* Of the record without a stack, or of all its parts. */
static void fill_chunk(struct slot *slot)
{
	slot->chunk.magic = STACK_CHUNK_MAGIC;
	slot->chunk.offset = slot->chunk.size = slot->chunk.total = 0;
	slot->chunk.absent = STACK_CHUNK_LEFT_OUT;
	slot->chunk.below = 0;
}

static long send_bare(void *context, struct slot *slot)
{
	fill_chunk(slot);
	long result = bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &slot->wait.magic,
					    sizeof(slot->wait) - sizeof(slot->wait.raw_size) +
						    sizeof(slot->chunk));
	if (result != 0)
		count_refused();
	return result;
}

/* Sends the head in the slot with the stack of the current thread. 0: without one. */
static __u32 send_with_stack(void *context, struct slot *slot, struct thread_waits *thread,
			     struct task_struct *task)
{
	__u64 sp = entered_stack_pointer(task);
	struct range range = {};
	if (sp == 0)
		return 0;
	find_range(task, sp, &thread->range, &range);
	if (range.high <= sp)
		return 0;
	struct copy copy = {.context = context, .slot = slot, .head = &slot->wait.magic};
	copy.head_size = sizeof(slot->wait) - sizeof(slot->wait.raw_size) + sizeof(slot->chunk);
	fill_chunk(slot);
	send_stack(&copy, &range, sp, &range, 0);
	if (copy.absent_at_end)
		thread->range.high = 0;
	return copy.sent;
}

/* Whether this CPU's ring is more than so many eighths full: no event of its own runs the program.
 */
static _Bool is_crowded(__u32 eighths)
{
	struct bpf_event_entry *entry = 0;
	struct perf_event *event = 0;
	outputs_address = (__u64)&outputs;
	__u64 entries = outputs_address + bpf_core_field_offset(struct bpf_array, ptrs);
	__u64 place = entries + bpf_get_smp_processor_id() * sizeof(entry);
	outputs_address = 0; /* whoever has the map reads it */
	if (bpf_probe_read_kernel(&entry, sizeof(entry), (const void *)place) != 0 || !entry ||
	    bpf_core_read(&event, sizeof(event), &entry->event) != 0 || !event)
		return 0;
	return is_ring_crowded(event, eighths);
}

static _Bool is_drawn(__u32 of_all)
{
	return of_all == ~0u || bpf_get_prandom_u32() <= of_all;
}

/* What became of a wait, without its stack. */
static void send_away(void *context, __u32 program, const struct thread_waits *thread,
		      const struct wait *wait, __u32 flags)
{
	struct slot *slot = find_slot(program);
	if (!slot || !has_reached(wait))
		return;
	fill_head(&slot->wait, wait, bpf_ktime_get_ns());
	slot->wait.kind = wait->syscall < 0 ? WAIT_HEAD_FAULT : WAIT_HEAD_WAIT;
	slot->wait.flags |= flags | WAIT_HEAD_AWAY;
	slot->wait.pid = thread->pid;
	slot->wait.tid = thread->tid;
	slot->wait.result = 0;
	if (send_bare(context, slot) != 0)
		__sync_fetch_and_add(&lost, 1);
}

/* A wait at the end of its call: the registers are still the caller's. */
static void send_ended(void *context, struct thread_waits *thread, const struct wait *wait,
		       __s64 result, __u32 flags)
{
	struct slot *slot = find_slot(SLOT_EXIT);
	if (!slot || !has_reached(wait))
		return;
	fill_head(&slot->wait, wait, bpf_ktime_get_ns());
	slot->wait.kind = WAIT_HEAD_WAIT;
	slot->wait.flags |= flags;
	slot->wait.pid = thread->pid;
	slot->wait.tid = thread->tid;
	slot->wait.result = result;
	if (!is_futex_or_sleep(wait->syscall))
		read_file(bpf_get_current_task_btf(), wait->args[0], &slot->wait);
	if ((wait->blocked_ns + wait->ready_ns < always_ns && !is_drawn(share)) ||
	    is_crowded(WAITS_EIGHTHS))
		slot->wait.flags |= WAIT_HEAD_BUDGET;
	else if (send_with_stack(context, slot, thread, bpf_get_current_task_btf()) > 0)
		return;
	if (send_bare(context, slot) != 0)
		__sync_fetch_and_add(&lost, 1);
}

/* What it sleeps in. */
static void enter_sleep(struct thread_waits *thread, const struct call *call, struct wait *wait,
			__u64 now)
{
	thread->out_ns = now;
	thread->state = call->syscall < 0 ? THREAD_IN_FAULT : THREAD_IN_CALL;
	if (wait->blocks == 0)
		begin_wait(wait, call, now);
}

/* Whether a thread that is woken sleeps since before it was added: it was never seen to leave its
 * CPU, and is on none. */
static _Bool slept_before(const struct thread_waits *thread, const struct task_struct *woken)
{
	return thread->added_ns != 0 && thread->out_ns == 0 && thread->state == THREAD_RUNS &&
	       bpf_core_field_exists(woken->on_cpu) && !woken->on_cpu;
}

static void find_asleep(struct thread_waits *thread, struct task_struct *woken)
{
	struct call call = {};
	if (woken->__state & TASK_STOPPED_OR_TRACED) {
		thread->out_ns = thread->added_ns;
		thread->state = THREAD_STOPPED;
		return;
	}
	read_call(woken, &call);
	call.flags |= WAIT_HEAD_BEFORE;
	enter_sleep(thread, &call, call.syscall < 0 ? &thread->fault : &thread->call,
		    thread->added_ns);
}

/* Whether the wake that ended the thread's sleep was seen, by now. */
static _Bool is_woken(const struct thread_waits *thread, __u64 now)
{
	return thread->wake_ns + WAKE_EARLY_NS >= thread->out_ns && thread->wake_ns <= now;
}

/* The thread runs again. */
static void take_in(struct thread_waits *thread, __u64 now)
{
	__u64 off = since(thread->out_ns, now);
	__u64 ready = 0;
	__u64 woken = thread->wake_ns;
	_Bool is_seen = is_woken(thread, now);
	if (is_seen)
		ready = woken > thread->out_ns ? now - woken : off;
	if (thread->state == THREAD_STOPPED) {
		if (thread->pending.blocks > 0) {
			thread->pending.stopped_ns += off;
			thread->pending.flags |= WAIT_HEAD_STOPPED;
		}
	} else {
		struct wait *wait =
			thread->state == THREAD_IN_FAULT ? &thread->fault : &thread->call;
		wait->blocked_ns += off - ready;
		wait->ready_ns += ready;
		wait->blocks++;
		wait->wake_ns = is_seen ? woken : 0;
		wait->waker_pid = is_seen ? thread->waker_pid : 0;
		wait->waker_tid = is_seen ? thread->waker_tid : 0;
	}
	thread->state = THREAD_RUNS;
}

/* The thread came back unseen: nested in another run of the program, or where the kernel traces
 * nothing. Its wait ended with the wake; when it got a CPU nobody knows, so none of the time behind
 * is the wait's. Without a wake the wait's end is not known: it is lost. */
static void come_back(void *context, __u32 program, struct thread_waits *thread, __u64 now)
{
	struct wait *wait = thread->state == THREAD_IN_FAULT ? &thread->fault : &thread->call;
	_Bool was_stopped = thread->state == THREAD_STOPPED;
	__u64 woken = thread->wake_ns;
	_Bool is_seen = is_woken(thread, now);
	take_in(thread, !is_seen ? now : woken > thread->out_ns ? woken : thread->out_ns);
	if (was_stopped)
		return;
	if (is_seen)
		send_away(context, program, thread, wait, 0);
	else if (has_reached(wait))
		__sync_fetch_and_add(&lost, 1);
	wait->blocks = 0;
}

/* The thread sleeps. */
static void take_out(void *context, struct thread_waits *thread, struct task_struct *task,
		     __u32 state, __u64 now)
{
	struct call call = {};
	if (thread->state != THREAD_RUNS)
		come_back(context, SLOT_SWITCH, thread, now);
	if (state & TASK_STOPPED_OR_TRACED) {
		thread->out_ns = now;
		thread->state = THREAD_STOPPED;
		return;
	}
	read_call(task, &call);
	struct wait *wait = call.syscall < 0 ? &thread->fault : &thread->call;
	/* A fault's end is not seen, nor that of what a thread does for itself after a call. */
	if (wait->blocks > 0 && (call.syscall < 0 || wait->syscall != call.syscall)) {
		send_away(context, SLOT_SWITCH, thread, wait, 0);
		wait->blocks = 0;
	}
	enter_sleep(thread, &call, wait, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(waits_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	_Bool is_due = 0;
	__u64 now = 0; /* asked for once: it takes a part of the whole */
	if (!preempt && state != 0 && has_own_events(prev) && prev->__state != 0) {
		struct thread_waits *thread = find_thread(prev->pid);
		if (thread && thread->follows)
			take_out(ctx, thread, prev, state, now = bpf_ktime_get_ns());
	}
	if (has_own_events(next)) {
		struct thread_waits *thread = find_thread(next->pid);
		if (thread && thread->state != THREAD_RUNS)
			take_in(thread, now ? now : bpf_ktime_get_ns());
		is_due = thread &&
			 (thread->call.blocks | thread->pending.blocks | thread->fault.blocks);
	}
	set_due(is_due);
	return 0;
}

/* The current thread, if it wakes by a system call of its own. Interrupts have a stack of their
 * own, but for those of user code, which is in no call. What a sender's protocol does at once runs
 * on that stack too. */
static _Bool is_waker(const void *context, struct task_struct *task, __s32 waits_in)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);
	__s32 syscall = syscall_of(regs);
	if (task->flags & (TASK_KERNEL_THREAD | TASK_IO_WORKER) || task->pid == 0 || syscall < 0)
		return 0;
	/* A difference of pointers is a number to the verifier. */
	if ((__u64)regs - (__u64)context < KERNEL_STACK_SIZE)
		return 1;
	return is_sending(syscall) && !is_futex_or_sleep(waits_in);
}

/* Sends the waker's stack, if the wait will be sent, and the waker is followed. */
static void send_waker(void *context, const struct thread_waits *sleeper, struct task_struct *task)
{
	struct slot *slot;
	__u64 off = since(sleeper->out_ns, sleeper->wake_ns);
	__u64 before = sleeper->call.blocked_ns + sleeper->call.ready_ns;
	if (sleeper->state != THREAD_IN_CALL || off + before < threshold_ns ||
	    (off + before < always_ns && !is_drawn(wake_share)))
		return;
	struct thread_waits *waker = find_thread(task->pid);
	if (!waker || !(slot = find_slot(SLOT_WAKE)) || is_crowded(WAKES_EIGHTHS))
		return;
	__builtin_memset(&slot->wait, 0, sizeof(slot->wait));
	slot->wait.magic = WAIT_HEAD_MAGIC;
	slot->wait.kind = WAIT_HEAD_WAKE;
	slot->wait.pid = sleeper->pid;
	slot->wait.tid = sleeper->tid;
	slot->wait.wake_ns = sleeper->wake_ns;
	slot->wait.waker_pid = waker->pid;
	slot->wait.waker_tid = waker->tid;
	slot->wait.syscall = -1;
	send_with_stack(context, slot, waker, task);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waits_waking, struct task_struct *woken)
{
	if (!has_own_events(woken))
		return 0;
	struct thread_waits *thread = find_thread(woken->pid);
	if (!thread)
		return 0;
	struct task_struct *task = bpf_get_current_task_btf();
	if (slept_before(thread, woken))
		find_asleep(thread, woken);
	thread->wake_ns = bpf_ktime_get_ns();
	thread->waker_pid = thread->waker_tid = 0;
	if (!is_waker(ctx, task, thread->state == THREAD_IN_CALL ? thread->call.syscall : -1))
		return 0;
	thread->waker_pid = task->tgid;
	thread->waker_tid = task->pid;
	send_waker(ctx, thread, task);
	return 0;
}

/* A call goes on that a signal interrupted. */
static void resume(struct wait *wait, struct wait *pending)
{
	pending->blocked_ns += wait->blocks > 0 ? wait->blocked_ns : 0;
	pending->ready_ns += wait->blocks > 0 ? wait->ready_ns : 0;
	pending->blocks += wait->blocks;
	if (wait->blocks > 0) {
		pending->wake_ns = wait->wake_ns;
		pending->waker_pid = wait->waker_pid;
		pending->waker_tid = wait->waker_tid;
	}
	*wait = *pending;
	pending->blocks = 0;
}

/* The signal handler has returned: the registers are those of the call again, which ended. */
static _Bool has_ended_by_signal(const struct call *call, const struct wait *pending, __s64 result)
{
	return call->syscall < 0 && pending->blocks > 0 && result == -CALL_INTERRUPTED;
}

static void end_call(void *context, struct thread_waits *thread, struct task_struct *task,
		     __s64 result)
{
	struct wait *wait = &thread->call;
	struct wait *pending = &thread->pending;
	struct call call = {};
	read_call(task, &call);
	if (has_ended_by_signal(&call, pending, result)) {
		send_ended(context, thread, pending, result, 0);
		pending->blocks = 0;
	}
	if (pending->blocks > 0 && continues(&call, pending)) {
		resume(wait, pending);
	} else if (wait->blocks > 0 && wait->syscall != call.syscall) {
		send_away(context, SLOT_EXIT, thread, wait, 0);
		wait->blocks = 0;
	}
	if (wait->blocks == 0)
		return;
	_Bool is_killed = has_kill(task);
	if (!is_restart(result) || is_killed) {
		/* The image is another one after an exec. */
		if (is_exec(call.syscall))
			send_away(context, SLOT_EXIT, thread, wait, 0);
		else
			send_ended(context, thread, wait, is_killed ? 0 : result,
				   is_killed ? WAIT_HEAD_UNENDED : 0);
	} else {
		/* In a handler of the call before. */
		if (pending->blocks > 0)
			send_away(context, SLOT_EXIT, thread, pending, 0);
		*pending = *wait;
		pending->flags |= WAIT_HEAD_INTERRUPTED;
	}
	wait->blocks = 0;
}

/* Apart from the program: that runs at each call's end on the whole machine, and gets away with
 * less of a stack. */
static __attribute__((noinline)) int send_due(void *context, __s64 result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_waits *thread = find_thread(task->pid);
	if (!thread)
		return 0;
	if (thread->fault.blocks > 0) {
		send_away(context, SLOT_EXIT, thread, &thread->fault, 0);
		thread->fault.blocks = 0;
	}
	end_call(context, thread, task, result);
	set_due(thread->pending.blocks > 0);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(waits_exit_call, void *regs, long result)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 *flag = bpf_map_lookup_elem(&due, &cpu);
	return flag && *flag ? send_due(ctx, result) : 0;
}

/* What a thread still waited for at its end. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(waits_exit_thread, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct thread_waits *thread = find_thread(tid);
	if (!thread)
		return 0;
	if (thread->state != THREAD_RUNS)
		come_back(ctx, SLOT_EXIT, thread, bpf_ktime_get_ns());
	if (thread->fault.blocks > 0)
		send_away(ctx, SLOT_EXIT, thread, &thread->fault, 0);
	if (thread->pending.blocks > 0)
		send_away(ctx, SLOT_EXIT, thread, &thread->pending, WAIT_HEAD_UNENDED);
	if (thread->call.blocks > 0 && !is_exit(thread->call.syscall))
		send_away(ctx, SLOT_EXIT, thread, &thread->call, WAIT_HEAD_UNENDED);
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
