/*
 * The threads whose waits are followed: those that the collector adds, and the threads and, if
 * wanted, processes that they create. Not sleeping ones by name: a thread is known from its birth.
 */
#ifndef COLLECTOR_BPF_WAIT_THREADS_BPF_H
#define COLLECTOR_BPF_WAIT_THREADS_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/stack_copy.bpf.h"
#include "collector/bpf/task_events.bpf.h"
#include "collector/bpf/wait_call.bpf.h"
#include "collector/bpf/wait_head.h"
#include "collector/bpf/wait_thread.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

__u32 children = 1;   /* set by the loader: follow the children of followed processes */
__u64 unfollowed = 0; /* threads for which the table had no room */

/* By thread id. Preallocated: entries are made and looked up under the scheduler's locks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAIT_THREADS);
	__type(key, __u32);
	__type(value, struct thread_waits);
} threads SEC(".maps");

/* What new entries are made of: too large for a program's stack. By CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, struct thread_waits);
} blanks SEC(".maps");

static struct thread_waits *find_thread(__u32 tid)
{
	return bpf_map_lookup_elem(&threads, &tid);
}

static void begin_wait(struct wait *wait, const struct call *call, __u64 now)
{
	wait->begin_ns = now;
	wait->blocked_ns = wait->ready_ns = wait->stopped_ns = 0;
	wait->syscall = call->syscall;
	wait->flags = call->flags;
	__builtin_memcpy(wait->args, call->args, sizeof(wait->args));
}

/* Whether a call is the one that was interrupted, made again. */
static _Bool continues(const struct call *call, const struct wait *pending)
{
	return call->syscall == CALL_RESTART ||
	       (call->syscall == pending->syscall && call->args[0] == pending->args[0] &&
		call->args[1] == pending->args[1]);
}

static void add_thread(__u32 pid, __u32 tid)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct thread_waits *blank = bpf_map_lookup_elem(&blanks, &cpu);
	if (!blank)
		return;
	blank->pid = pid;
	blank->tid = tid;
	blank->follows = 1;
	if (bpf_map_update_elem(&threads, &tid, blank, BPF_ANY) != 0)
		__sync_fetch_and_add(&unfollowed, 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(waits_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread_waits *creator = find_thread(parent->pid);
	if (!creator || !creator->follows)
		return 0;
	if (children || child->tgid == parent->tgid)
		add_thread(child->tgid, child->pid);
	return 0;
}

/* The thread that calls exec gets the id of its process. A program with new rights loses its
 * events (begin_new_exec, fs/exec.c), and is no more followed. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(waits_exec, struct task_struct *task, int before)
{
	__u32 old = before;
	__u32 tid = task->pid;
	struct thread_waits *thread = find_thread(old);
	if (!thread)
		return 0;
	if (old != tid)
		bpf_map_delete_elem(&threads, &old);
	if (!has_own_events(task))
		bpf_map_delete_elem(&threads, &tid);
	else if (old != tid)
		add_thread(task->tgid, tid);
	else
		thread->follows = 1;
	return 0;
}

#endif
