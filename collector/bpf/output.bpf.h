/* The way of the BPF programs' records to the collector's rings. */
#ifndef COLLECTOR_BPF_OUTPUT_BPF_H
#define COLLECTOR_BPF_OUTPUT_BPF_H

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

/* By CPU: the events through which records are sent. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, __u32);
} outputs SEC(".maps");

/* By CPU: records other than samples for which the ring had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, __u64);
} refused SEC(".maps");

static void count_refused(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *count = bpf_map_lookup_elem(&refused, &cpu);
	if (count)
		++*count;
}

#endif
