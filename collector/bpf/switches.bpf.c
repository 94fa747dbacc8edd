/*
 * The switches of threads that have perf events of their own: of ours, and of other collectors',
 * which the reader does not know. One record for the thread that leaves a CPU and the one that gets
 * it, instead of two of the kernel's, which take five times as long.
 *
 * Runs with interrupts off, on a ring of its CPU alone. The arguments of sched_switch are of Linux
 * 5.19.
 */
#include <linux/bpf.h>

#include "collector/bpf/kernel_types.bpf.h"
#include "collector/bpf/switch_record.h"
#include "collector/bpf/task_events.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

__u32 ring_records = 1; /* set by the loader: of a CPU, a power of two */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader: ring_records for each CPU */
	__type(key, __u32);
	__type(value, struct switch_record);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, struct switch_ends);
} ends SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(switches_switch, _Bool preempt, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	__u64 is_from = has_own_events(from);
	__u64 is_to = has_own_events(to);
	/* Two tests of pointers become no sum of both, which the verifier refuses. */
	barrier_var(is_from);
	barrier_var(is_to);
	if (!is_from && !is_to)
		return 0;
	__u32 cpu = bpf_get_smp_processor_id();
	struct switch_ends *end = bpf_map_lookup_elem(&ends, &cpu);
	if (!end)
		return 0;
	__u64 head = end->head;
	__u32 index = cpu * ring_records + ((__u32)head & (ring_records - 1));
	struct switch_record *record = bpf_map_lookup_elem(&records, &index);
	if (!record || head - *(volatile __u64 *)&end->tail >= ring_records) {
		end->lost++;
		return 0;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->from_pid = is_from ? from->tgid : 0;
	record->from_tid = is_from ? from->pid : 0;
	record->to_pid = is_to ? to->tgid : 0;
	record->to_tid = is_to ? to->pid : 0;
	record->lost = (__u32)end->lost;
	record->flags = preempt || state == 0            ? SWITCH_RECORD_RUNNABLE
			: state & TASK_STOPPED_OR_TRACED ? SWITCH_RECORD_STOPPED
							 : 0;
	/* The record is there before the head says so: with its result asked for, the kernel makes
	 * this a full barrier. */
	if (__sync_fetch_and_add(&end->head, 1) != head)
		end->lost++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
