/*
 * The followed tasks, for samples by the CPUs' clocks instead of by events of the threads: threads
 * of the processes in a table, as long as they have perf events of their own. Threads inherit these
 * from the events opened by the collector, and the events report mappings. No thread is sampled
 * whose mappings are unknown, or whose events the kernel has removed.
 *
 * Also sends the CPU time of each thread that ends. The time is final only when the thread is
 * switched out for good; sched_process_free is the first tracepoint after that.
 */
#ifndef COLLECTOR_BPF_FOLLOW_BPF_H
#define COLLECTOR_BPF_FOLLOW_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/output.bpf.h"
#include "collector/bpf/stack_chunk.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Set by source.c. */
__u32 children = 1; /* follow the children of followed processes */
__u32 held = 0;     /* process not to be sampled yet; 0: none */

__u64 unfollowed = 0; /* processes for which the table had no room */
__u64 untold = 0;     /* accounts for which a ring had no room, */
__u64 untold_ns = 0;  /* and the CPU time in them */

/* By process. Preallocated: lookups come from interrupts, where nothing may be allocated. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FOLLOW_PROCESSES);
	__type(key, __u32);
	__type(value, struct follow_entry);
} followed SEC(".maps");

/*
 * Ended processes, by the last digits of their ids: the next one with the same digits removes its
 * predecessor's entry from the table. Until then, other threads of the process may be freed after
 * the first one, whose end is the process's, and a new process may have got the id.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FOLLOW_ENDED_KEPT);
	__type(key, __u32);
	__type(value, __u32);
} ended SEC(".maps");

/* Whether perf events were ever opened for the task. Threads of an attached process may keep events
 * of other collectors: the process is held until all its threads have ours. */
static _Bool has_events(struct task_struct *task)
{
	struct task_struct___one_context *one = (void *)task;
	struct task_struct___two_contexts *two = (void *)task;
	void *context = 0;
	if (bpf_core_field_exists(one->perf_event_ctxp))
		bpf_core_read(&context, sizeof(context), &one->perf_event_ctxp);
	else
		bpf_core_read(&context, sizeof(context), &two->perf_event_ctxp[1]);
	return context != 0;
}

static _Bool is_followed(__u32 process)
{
	struct follow_entry *entry = bpf_map_lookup_elem(&followed, &process);
	return entry && entry->state == FOLLOW_FOLLOWS;
}

/* Whether the kernel took a thread's events because the thread ends (do_exit, kernel/exit.c). The
 * work until the thread is switched out for good is a large part of a short life. */
static _Bool has_ended(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & TASK_EXITING;
}

SEC("raw_tp/sched_process_fork")
int follow_fork(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *parent = (void *)context->args[0];
	struct task_struct *child = (void *)context->args[1];
	__u32 from = BPF_CORE_READ(parent, tgid);
	__u32 process = BPF_CORE_READ(child, tgid);
	struct follow_entry entry = {.state = FOLLOW_FOLLOWS};
	if (process == from)
		return 0;
	if (children && is_followed(from) && has_events(child)) {
		entry.start_time = BPF_CORE_READ(child, start_time);
		if (bpf_map_update_elem(&followed, &process, &entry, BPF_ANY) != 0)
			__sync_fetch_and_add(&unfollowed, 1);
	} else if (bpf_map_lookup_elem(&followed, &process)) {
		bpf_map_delete_elem(&followed, &process); /* it was another one's id */
	}
	return 0;
}

static void send_account(struct bpf_raw_tracepoint_args *context, struct task_struct *task,
			 __u32 process, __u32 thread, __u32 kind)
{
	struct thread_account account = {
		.magic = THREAD_ACCOUNT_MAGIC,
		.pid = process,
		.tid = thread,
		.kind = kind,
		.cpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime),
	};
	if (bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, &account.magic,
				  sizeof(account) - sizeof(account.raw_size)) == 0)
		return;
	count_refused();
	__sync_fetch_and_add(&untold, 1);
	__sync_fetch_and_add(&untold_ns, account.cpu_ns);
}

/* On exec, a thread other than its process's first gets the first one's id; its CPU time so far has
 * the old id. A program with new rights loses its events (begin_new_exec, fs/exec.c). */
SEC("raw_tp/sched_process_exec")
int follow_exec(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (void *)context->args[0];
	__u32 before = (__u32)context->args[1];
	__u32 process = BPF_CORE_READ(task, tgid);
	struct follow_entry *entry = bpf_map_lookup_elem(&followed, &process);
	if (!entry)
		return 0;
	if (!has_events(task)) {
		if (process == held)
			return 0; /* they are still to be opened */
		if (before != process)
			send_account(context, task, process, before, THREAD_ACCOUNT_RENAMED);
		send_account(context, task, process, process, THREAD_ACCOUNT_WHOLE);
		entry->start_time = bpf_ktime_get_ns();
		entry->state = FOLLOW_LOST;
		return 0;
	}
	if (entry->state == FOLLOW_WAITS)
		entry->state = FOLLOW_FOLLOWS;
	if (before != process)
		send_account(context, task, process, before, THREAD_ACCOUNT_RENAMED);
	return 0;
}

/* Removes a process that ended long ago from the table. */
static void bury(__u32 process)
{
	__u32 key = process % FOLLOW_ENDED_KEPT;
	__u32 *last = bpf_map_lookup_elem(&ended, &key);
	if (!last)
		return;
	__u32 before = *last;
	struct follow_entry *entry = bpf_map_lookup_elem(&followed, &before);
	*last = process;
	if (before != process && entry &&
	    (entry->state == FOLLOW_ENDED || entry->state == FOLLOW_LOST))
		bpf_map_delete_elem(&followed, &before);
}

/* Whether the thread ran after an exec took the events, unlike the threads ended by the exec. */
static _Bool is_lost(const struct follow_entry *entry, __u32 process, __u32 thread,
		     __u64 start_time)
{
	return entry->state == FOLLOW_LOST && (thread == process || start_time > entry->start_time);
}

SEC("raw_tp/sched_process_free")
int follow_free(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (void *)context->args[0];
	__u32 process = BPF_CORE_READ(task, tgid);
	__u32 thread = BPF_CORE_READ(task, pid);
	__u64 start_time = BPF_CORE_READ(task, start_time);
	struct follow_entry *entry = bpf_map_lookup_elem(&followed, &process);
	if (!entry)
		return 0;
	if (is_lost(entry, process, thread, start_time)) {
		if (thread == process)
			bury(process);
		return 0;
	}
	send_account(context, task, process, thread, THREAD_ACCOUNT_WHOLE);
	if (thread == process && (entry->start_time == 0 || entry->start_time == start_time)) {
		entry->state = FOLLOW_ENDED;
		bury(process);
	}
	return 0;
}

#endif
